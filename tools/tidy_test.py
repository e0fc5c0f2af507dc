"""Each check of tidy fires on a small tree that breaks its rule, and is silent on one that does not.

    python3 -m unittest tools/tidy_test.py
"""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import tidy  # noqa: E402
from tidy_checks.shape import function_bodies  # noqa: E402
from tidy_checks.source import blank_comments_and_strings  # noqa: E402

HEADER = "// A log.\n#pragma once\n"

CLEAN = {
    "batchweave/CMakeLists.txt": "bw_library(log SOURCES log/log.cc log/log_test.cc)\n"
    "bw_library(rest SOURCES store/environment.cc producer/uploader.cc)\n",
    "batchweave/log/log.h": HEADER,
    "batchweave/log/log.cc": '#include "batchweave/log/log.h"\n\nint Answer() { return 42; }\n',
    "batchweave/log/log_test.cc": "// Covers A1, I3.\nTEST(LogTest, Works) {}\n",
    "batchweave/store/environment.cc": 'const char* Region() { return std::getenv("REGION"); }\n',
    "batchweave/producer/uploader.cc": 'void Run() { threads_.Start("up", [] {}); }\n',
    "docs/faults.md": "| # | what | here | status |\n| A1 | lost | found | covered |\n| A2 | late | x | missing: log |\n",
    "docs/protocol.md": "".join(f"| I{n} | holds | {'covered' if n == 3 else 'missing: model'} |\n" for n in range(1, 13)),
    "docs/life-of-a-batch.md": "`producer/uploader.cc` `Run` sends it. See [faults](faults.md#a).\n",
    "README.md": "line\n" * 100,
}


def findings(files, without=(), exceptions=None):
    """What tidy says of the clean tree with `files` added or replaced, as `path: message` strings."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in {**CLEAN, **files}.items():
            if path not in without:
                file = pathlib.Path(root) / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
        return [f"{finding.path}:{finding.line}: {finding.message}" for finding in tidy.findings(root, exceptions or {})]


class TidyTest(unittest.TestCase):
    def assert_clean(self, files, without=()):
        self.assertEqual(findings(files, without), [])

    def assert_finds(self, expected, files, without=()):
        found = findings(files, without)
        self.assertTrue(any(expected in line for line in found), f"expected `{expected}` in {found}")

    def assert_bans(self, line, path="batchweave/log/log.cc"):
        self.assert_finds("is banned here", {path: f"void F() {{\n  {line}\n}}\n"})

    def assert_allows(self, line, path):
        listing = CLEAN["batchweave/CMakeLists.txt"] + f"bw_library(x SOURCES {path.removeprefix('batchweave/')})\n"
        self.assert_clean({path: f"void F() {{\n  {line}\n}}\n", "batchweave/CMakeLists.txt": listing})

    def test_clean_tree(self):
        self.assert_clean({})


class LayersTest(TidyTest):
    def include(self, path, included):
        files = {path: f'#include "{included}"\n', included: HEADER}
        for folder in {pathlib.Path(path).parent, pathlib.Path(included).parent}:
            if str(folder) != "batchweave/log":
                files[f"{folder}/CMakeLists.txt"] = f"bw_library(x SOURCES {pathlib.Path(path).name} {pathlib.Path(included).name})\n"
        return files

    def test_to_the_right(self):
        self.assert_finds("log may not include producer", self.include("batchweave/log/log.cc", "batchweave/producer/a.h"))

    def test_siblings(self):
        self.assert_finds("format may not include store", self.include("batchweave/format/a.cc", "batchweave/store/a.h"))
        self.assert_finds("consumer may not include producer", self.include("batchweave/consumer/a.cc", "batchweave/producer/a.h"))

    def test_to_the_left(self):
        self.assert_clean(self.include("batchweave/stream/a.cc", "batchweave/consumer/a.h"))
        self.assert_clean(self.include("cli/a.cc", "batchweave/stream/a.h"))

    def test_testing(self):
        self.assert_finds("testing/ is for tests", self.include("batchweave/log/log.cc", "batchweave/testing/a.h"))
        self.assert_finds("testing/ is for tests", self.include("cli/a.cc", "batchweave/testing/a.h"))
        self.assert_clean(self.include("batchweave/base/a_test.cc", "batchweave/testing/a.h"))
        self.assert_clean(self.include("bench/a.cc", "batchweave/testing/a.h"))

    def test_spelling(self):
        self.assert_finds("not written from the root", {"batchweave/log/log.cc": '#include "log.h"\n'})
        self.assert_finds("does not exist", {"batchweave/log/log.cc": '#include "batchweave/log/lag.h"\n'})
        self.assert_finds("with quotes", {"batchweave/log/log.cc": "#include <batchweave/log/log.h>\n"})

    def test_unknown_layer(self):
        self.assert_finds("new is not a layer", self.include("batchweave/new/a.cc", "batchweave/base/a.h"))


class BansTest(TidyTest):
    def test_bans(self):
        for line in (
            "auto t = std::chrono::steady_clock::now();",
            "std::this_thread::sleep_for(second);",
            "usleep(3);",
            "std::condition_variable ready;",
            "std::random_device device;",
            "int x = rand();",
            "std::mt19937 generator(1);",
            'std::getenv("HOME");',
            "std::thread thread(F);",
            "env.threads.Start(name, body);",
            "throw 1;",
            "try { F(); } catch (...) {}",
            "std::abort();",
            "using namespace std;",
        ):
            with self.subTest(line):
                self.assert_bans(line)

    def test_bans_of_one_folder(self):
        self.assert_bans("mmap(nullptr, 1, 0, 0, 0, 0);", "batchweave/store/local.cc")
        self.assert_bans("throw 1;", "cli/show.cc")
        self.assert_bans("std::chrono::steady_clock::now();", "sim/run.cc")
        self.assert_bans("std::this_thread::sleep_for(second);", "batchweave/log/log_test.cc")
        self.assert_finds("is banned here", {"batchweave/log/log.cc": "#include <iostream>\n"})

    def test_allowed(self):
        self.assert_allows("auto t = std::chrono::steady_clock::now();", "batchweave/base/clock.cc")
        self.assert_allows("std::thread thread(F);", "batchweave/base/threads.cc")
        self.assert_allows("std::thread thread(F);", "batchweave/log/race_test.cc")
        self.assert_allows("clock.SleepUntil(deadline);  // not sleep_for: rand() is no clock", "batchweave/log/a.cc")
        self.assert_allows("loop.exit(); operand(1); steady_clock::time_point t;", "batchweave/log/a.cc")

    def test_marks(self):
        for mark in ("TODO", "FIXME", "XXX", "NOLINTNEXTLINE"):
            self.assert_finds(mark, {"batchweave/log/log.cc": f"int x;  // {mark} later\n"})

    def test_shared_ptr(self):
        self.assert_finds("shared ownership", {"batchweave/log/log.cc": "int x;\nstd::shared_ptr<int> p;\n"})
        self.assert_clean({"batchweave/log/log.cc": "// Kept by batches that outlive the pool.\nstd::shared_ptr<int> p;\n"})
        reason = HEADER + "// Kept by batches that outlive the pool.\nextern std::shared_ptr<int> p;\n"
        self.assert_clean({"batchweave/log/log.h": reason, "batchweave/log/log.cc": "\n\nstd::shared_ptr<int> p;\n"})

    def test_manifest_keys(self):
        body = "void F() {\n  store.Put(keys.Manifest(version), body);\n}\n"
        self.assert_finds("go through ManifestLog", {"batchweave/producer/uploader.cc": body})
        self.assert_clean({"batchweave/log/log.cc": body})


class ShapeTest(TidyTest):
    def test_sizes(self):
        self.assert_finds("at most 200", {"batchweave/log/log.h": HEADER + "\n" * 200})
        self.assert_finds("at most 400", {"batchweave/log/log.cc": "\n" * 401})
        self.assert_clean({"batchweave/log/log_test.cc": CLEAN["batchweave/log/log_test.cc"] + "\n" * 700})
        self.assert_finds("columns", {"batchweave/log/log.cc": f"int {'x' * 140};\n"})

    def test_long_function(self):
        function = "int F(int a)\n    : b_{a} {\n" + "  ++a;\n" * 71 + "}\n"
        self.assert_finds("a function of 71 lines", {"batchweave/log/log.cc": f"namespace x {{\n\n{function}\n}}\n"})
        self.assert_clean({"batchweave/log/log.cc": "namespace x {\n" + "int F() { return 1; }\n" * 80 + "}\n"})

    def test_function_bodies(self):
        code = """namespace a {
struct S final : public T {
  S() : x_{1}, y_(2) {
    auto f = [] { return 1; };
    if (x_) { y_ = 2; }
  }
  bool operator==(const S&) const = default;
  int x_ = 0;
};
enum class E { kA, kB };
const int kTable[] = {
  F(1),
};
#define M(x) {
auto G() -> Result<int> {
  return {"}"};
}
}
"""
        lines = blank_comments_and_strings(code).split("\n")
        self.assertEqual(list(function_bodies(lines)), [(3, 6), (15, 17)])

    def test_headers(self):
        self.assert_finds("begins with a comment", {"batchweave/log/log.h": "#pragma once\n"})
        self.assert_finds("#pragma once", {"batchweave/log/log.h": "// A log.\n#ifndef LOG_H\n#endif\n"})

    def test_commented_out_code(self):
        for line in ("Start(x);", "if (x) {", "}", "const int x = 1;", "return x;", "#include <vector>"):
            with self.subTest(line):
                self.assert_finds("commented-out", {"batchweave/log/log.cc": f"// {line}\n"})
        self.assert_clean({"batchweave/log/log.cc": "// Nothing happened (retry);\n//   Start(x);\n// returns x; and so on.\n"})


class ListedTest(TidyTest):
    def test_unlisted(self):
        for path in ("batchweave/log/new.cc", "batchweave/log/new_test.cc", "batchweave/log/new.fbs", "bench/new.h"):
            self.assert_finds(f"{path}:1: no CMakeLists", {path: HEADER})

    def test_in_a_comment(self):
        self.assert_finds("no CMakeLists", {"bench/a.cc": "", "bench/CMakeLists.txt": "# a.cc\n"})

    def test_schema_without_its_ending(self):
        self.assert_clean({"bench/a.fbs": "", "bench/CMakeLists.txt": "foreach(schema a)\n"})

    def test_from_the_root(self):
        self.assert_clean({"bench/a.cc": "", "bench/CMakeLists.txt": "bw_test(a SOURCES ${PROJECT_SOURCE_DIR}/bench/a.cc)\n"})


class MutationsTest(TidyTest):
    def tree(self, header="", source="void F() { if (BW_MUTATION(kLate)) G(); }\n"):
        return {
            "batchweave/CMakeLists.txt": CLEAN["batchweave/CMakeLists.txt"] + "bw_library(base SOURCES base/mutation.cc)\n",
            "batchweave/base/mutation.h": HEADER + '#define BW_MUTATIONS(X) \\\n  X(kLate, "I1", "late") \\\n' + header,
            "batchweave/base/mutation.cc": "#ifdef BATCHWEAVE_MUTANTS\n#endif\n",
            "batchweave/log/log.cc": source,
        }

    def test_made(self):
        self.assert_clean(self.tree())

    def test_made_nowhere(self):
        self.assert_finds("batchweave/base/mutation.h:5: no BW_MUTATION(kLost)", self.tree(header='  X(kLost, "I2", "lost")\n'))
        self.assert_finds("no BW_MUTATION(kLate)", self.tree(source="// BW_MUTATION(kLate)\n"))
        in_a_test = {"batchweave/log/log_test.cc": "// Covers A1, I3.\nstatic_assert(!BW_MUTATION(kLate));\n"}
        self.assert_finds("no BW_MUTATION(kLate)", {**self.tree(source="int x;\n"), **in_a_test})

    def test_unknown(self):
        self.assert_finds("kLast is no mutation", self.tree(source="bool F() { return BW_MUTATION(kLate) || BW_MUTATION(kLast); }\n"))

    def test_outside_of_the_library(self):
        sim = {"sim/run.cc": "bool F() { return BW_MUTATION(kLate); }\n", "sim/CMakeLists.txt": "bw_library(sim SOURCES run.cc)\n"}
        self.assert_finds("sim/run.cc:1: a mutation is a breach in the library", {**self.tree(), **sim})

    def test_flag(self):
        source = "#ifdef BATCHWEAVE_MUTANTS\nint x = BW_MUTATION(kLate);\n#endif\n"
        self.assert_finds("is for base/mutation.h and base/fault_point.h alone", self.tree(source=source))
        self.assert_clean({**self.tree(), "cmake/Mutants.cmake": "option(BATCHWEAVE_MUTANTS)\n"})


class FaultPointsTest(TidyTest):
    def tree(self, header="", source='void F() { BW_FAULT_POINT("commit.sent"); }\n'):
        return {
            "batchweave/CMakeLists.txt": CLEAN["batchweave/CMakeLists.txt"] + "bw_library(base SOURCES base/fault_point.cc)\n",
            "batchweave/base/fault_point.h": HEADER + '#define BW_FAULT_POINTS(X) \\\n  X("commit.sent", "sent") \\\n' + header,
            "batchweave/base/fault_point.cc": "#ifdef BATCHWEAVE_MUTANTS\nauto v = std::getenv(kName);\n#endif\n",
            "batchweave/log/log.cc": source,
        }

    def test_made(self):
        self.assert_clean(self.tree())

    def test_made_nowhere(self):
        self.assert_finds('batchweave/base/fault_point.h:5: no BW_FAULT_POINT("a.b")', self.tree(header='  X("a.b", "c")\n'))
        self.assert_finds('no BW_FAULT_POINT("commit.sent")', self.tree(source='// BW_FAULT_POINT("commit.sent")\n'))

    def test_unknown(self):
        self.assert_finds("a.b is no fault point", self.tree(source='void F() { BW_FAULT_POINT("commit.sent"); BW_FAULT_POINT("a.b"); }\n'))

    def test_outside_of_the_library(self):
        sim = {"sim/run.cc": 'void F() { BW_FAULT_POINT("commit.sent"); }\n', "sim/CMakeLists.txt": "bw_library(sim SOURCES run.cc)\n"}
        self.assert_finds("sim/run.cc:1: a fault point is a place in the library", {**self.tree(), **sim})


class NamesTest(TidyTest):
    def test_names(self):
        for path in ("batchweave/log/log_utils.md", "docs/common/a.md", "tools/helpers.py"):
            self.assert_finds("says nothing", {path: "x\n"})

    def test_words(self):
        # Each in two pieces, so that this file passes the check itself.
        key = "AKIA" + "A1B2C3D4E5F6G7H8"
        for words in ("/ro" + "ot/x", key, "BEGIN RSA " + "PRIVATE KEY", "see iss" + "ue 12", "https" + "://mirror.internal/x"):
            with self.subTest(words):
                self.assertEqual(len(findings({"docs/a.md": words + "\n"})), 1)
        self.assert_clean({"docs/a.md": "https://github.com/x/y and http://127.0.0.1:80/ and https://$host/x and ~/work/x\n"})


class DocumentsTest(TidyTest):
    def fault(self, status, id="A1"):
        return {"docs/faults.md": f"| {id} | lost | found | {status} |\n"}

    def test_status(self):
        self.assert_finds("the last column is", self.fault("done"))
        self.assert_finds("the last column is", self.fault("partly covered: commit"))
        self.assert_clean(self.fault("partly covered: commit; missing: cloud store"))

    def test_covered_without_a_test(self):
        self.assert_finds("no test says", {"batchweave/log/log_test.cc": "// Covers I3.\n"})

    def test_missing_with_a_test(self):
        self.assert_finds("say `covered`", self.fault("missing: log"))

    def test_unknown_row(self):
        self.assert_finds("B9 is not a row", {"batchweave/log/log_test.cc": "// Covers A1, I3, B9.\n"})

    def test_form_of_a_citation(self):
        self.assert_finds("write `// Covers", {"batchweave/log/log_test.cc": "// Covers A1 and I3\n"})

    def test_models(self):
        missing = CLEAN["docs/faults.md"].replace("missing: log", "covered")
        self.assert_finds("no test says", {"docs/faults.md": missing})
        self.assert_clean({"docs/faults.md": missing, "model/stream.pml": "  /* Covers I3, A2. */\ninline land(c) {}\n"})
        self.assert_finds("write `// Covers", {"model/stream.pml": "/* Covers A1 and I3 */\n"})
        self.assert_finds("no test says", {"docs/faults.md": missing, "docs/stream.pml": "/* Covers A2. */\n"})

    def test_numbering(self):
        self.assert_finds("expected row A2", {"docs/faults.md": CLEAN["docs/faults.md"].replace("A2", "A3")})
        three = "| I1 | x | missing: y |\n| I2 | x | missing: y |\n| I3 | x | covered |\n"
        self.assert_finds("has 3 rows of at least 12", {"docs/protocol.md": three})

    def test_absent_protocol(self):
        self.assert_clean({}, without=("docs/protocol.md",))

    def test_life_of_a_batch(self):
        self.assert_finds("log/lag.cc does not exist", {"docs/life-of-a-batch.md": "`log/lag.cc`\n"})
        self.assert_finds("Ask is not in", {"docs/life-of-a-batch.md": "`batchweave/log/log.cc` `Log::Ask`\n"})

    def test_python_package(self):
        package, tests = "python/src/batchweave/a.py", "python/tests/test_a.py"
        for line in (
            "import pickle", "from multiprocessing import shared_memory", "torch.distributed.init_process_group()", "import random",
            "np.random.seed(1)", "torch.manual_seed(0)", "os.fork()", "x = 1  # noqa: F401", "x = 1  # type: ignore",
        ):
            self.assert_finds("is banned here", {package: f"{line}\n"})
            self.assert_clean({tests: f"{line}\n"})
        self.assert_clean({package: "from numpy.random import Generator  # type: ignore[misc]\n"})
        self.assert_finds("at most 400", {tests: "x = 1\n" * 401})
        self.assert_finds("at most 119", {"examples/python/a.py": "x = 1\n" * 120})

    def test_links(self):
        self.assert_finds("leads nowhere", {"docs/a.md": "[x](b.md)\n"})
        self.assert_clean({"docs/a.md": "[x](../batchweave/log) [y](https://github.com/x/y)\n"})

    def test_readme(self):
        self.assert_finds("expected 90 to 130", {"README.md": "short\n"})


class ExceptionsTest(TidyTest):
    def test_excused(self):
        files = {"batchweave/log/log.h": "#pragma once\n"}
        self.assertEqual(findings(files, exceptions={("check_headers", "batchweave/log/log.h"): "a test"}), [])

    def test_unused(self):
        found = findings({}, exceptions={("check_headers", "batchweave/log/log.h"): "a test"})
        self.assertIn("excuses nothing", found[0])


if __name__ == "__main__":
    unittest.main()
