// What a put to a directory survives.
#pragma once

namespace batchweave {

enum class Durability {
  kFull,  // A put returns when the bytes are on the disk, file and folder.
  kNone,  // ... when the system has them: for scratch; a power loss may take acknowledged batches.
};

}  // namespace batchweave
