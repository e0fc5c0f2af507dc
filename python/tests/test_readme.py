"""The README shows a program that runs: twice on one folder, it goes on where it stopped."""

import pathlib

README = pathlib.Path(__file__).parents[2] / "README.md"


def test_the_program_in_the_readme_runs(tmp_path, run_python):
    (program,) = [block.partition("```")[0] for block in README.read_text().split("```python\n")[1:]]
    steps = [f"{step} [{' '.join([str(10 * step + 1)] * 4)}]" for step in range(6)]
    assert run_python(program, tmp_path).splitlines() == steps[:3]
    assert run_python(program, tmp_path).splitlines() == steps
