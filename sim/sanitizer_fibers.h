// Tells the address sanitizer of each change of stack: without that it takes a fibre's frames for damage. Elsewhere it
// does nothing.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define BW_SIM_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BW_SIM_ADDRESS_SANITIZER 1
#endif
#endif

#ifdef BW_SIM_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

namespace batchweave::sim {

// One a fibre. The scheduler calls Entering and Left around a resume, the fibre Entered and Leaving at its ends.
class SanitizerFiber {
 public:
#ifdef BW_SIM_ADDRESS_SANITIZER
  void Entering(const void* stack_bottom, size_t stack_bytes) {
    __sanitizer_start_switch_fiber(&scheduler_fake_, stack_bottom, stack_bytes);
  }
  void Entered() { __sanitizer_finish_switch_fiber(own_fake_, &scheduler_bottom_, &scheduler_bytes_); }
  void Leaving(bool for_good) {
    __sanitizer_start_switch_fiber(for_good ? nullptr : &own_fake_, scheduler_bottom_, scheduler_bytes_);
  }
  void Left() { __sanitizer_finish_switch_fiber(scheduler_fake_, nullptr, nullptr); }

 private:
  void* scheduler_fake_ = nullptr;
  void* own_fake_ = nullptr;
  const void* scheduler_bottom_ = nullptr;
  size_t scheduler_bytes_ = 0;
#else
  void Entering(const void* /*stack_bottom*/, size_t /*stack_bytes*/) {}
  void Entered() {}
  void Leaving(bool /*for_good*/) {}
  void Left() {}
#endif
};

}  // namespace batchweave::sim
