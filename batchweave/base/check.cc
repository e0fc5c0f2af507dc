#include "batchweave/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace batchweave {

void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "batchweave: bug: %s:%d: BW_CHECK(%s) failed\n", file, line, condition);
  std::abort();
}

}  // namespace batchweave
