#include "batchweave/format/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "batchweave/testing/format_builders.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/seeded_random.h"

namespace batchweave {
namespace {

RC_GTEST_PROP(ManifestProperty, WhatWasEncodedIsDecoded, (uint64_t seed)) {
  SeededRandom random(seed);
  const Manifest manifest = ArbitraryManifest(random, *rc::gen::inRange<size_t>(0, 40));
  const EncodedManifest encoded = EncodeManifest(manifest);
  const Result<Manifest> decoded = DecodeManifest(encoded.bytes);
  RC_ASSERT(decoded.ok());
  RC_ASSERT(*decoded == manifest);
  RC_ASSERT(EncodeManifest(*decoded).bytes == encoded.bytes);
}

}  // namespace
}  // namespace batchweave
