// Times as Python has them, in seconds, and as the library does.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>

#include "batchweave/base/clock.h"

namespace batchweave::python {

inline double ToSeconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// Longer than any run: beyond it a number of seconds does not fit a Duration. Raises ValueError of what is no time.
Duration FromSeconds(double seconds);

// How long `seconds` are; None: as long as it takes.
Duration PatienceOf(nanobind::handle seconds);

// The end of a wait of `timeout` seconds from now; of None: kForever.
TimePoint DeadlineOf(Clock& clock, nanobind::handle timeout);

}  // namespace batchweave::python
