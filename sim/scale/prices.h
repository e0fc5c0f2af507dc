// What requests cost, by the published prices of the stores that the profiles stand for.
#pragma once

#include "sim/scale/scenario.h"

namespace batchweave::sim {

// US dollars for the requests; bytes and storage are not counted, being the same under every policy but for manifests.
// S3 Standard, us-east-1: $0.005 a thousand PUT or LIST, $0.0004 a thousand GET or HEAD. S3 Express One Zone: $0.00113
// and $0.00003. Google Cloud Storage, one region: $0.005 (class A) and $0.0004 (class B). None bills a DELETE, and a
// directory bills nothing.
double Dollars(const StoreProfile& profile, const RequestCounts& requests);

}  // namespace batchweave::sim
