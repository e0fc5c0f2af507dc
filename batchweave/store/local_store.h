// A directory as a store: the embedded default. A key is the path of a file below it.
//
// A put writes a file that nobody sees, and then gives it its place: link(2) for a create, of which one of many wins,
// rename(2) for an overwrite. So an object is whole or not there, whoever is killed when. Works on every file system
// whose link is atomic; the probe (store_probe.h) tells.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "batchweave/store/durability.h"
#include "batchweave/store/local_file.h"
#include "batchweave/store/object_store.h"
#include "batchweave/store/temporary_file.h"

namespace batchweave {

struct LocalStoreOptions {
  Durability durability = Durability::kFull;
  // Off: behave as on a file system without O_TMPFILE, such as NFS.
  bool unnamed_temporaries = true;
};

// Holds the directory open, not its name: where it is moved the store goes with it; where it is removed every call
// fails with kDenied, and it is never made anew. Uses one descriptor, and one or two more during a call. A forked child
// may go on using it.
class LocalStore final : public ObjectStore {
 public:
  // `root` must exist. Removes temporaries that dead processes left.
  // Errors: kNotFound (no such directory), kDenied, kUnavailable.
  static Result<std::unique_ptr<ObjectStore>> Open(const std::string& root, LocalStoreOptions options = {});

  Result<void> Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) override;
  // One request after the other: a rank's prefetch has threads of its own.
  Result<void> Get(std::span<ReadRequest> requests) override;
  Result<Bytes> Read(std::string_view key) override;
  Result<uint64_t> Stat(std::string_view key) override;
  // Costs as local_list.h says.
  Result<ListPage> List(std::string_view prefix, std::string_view start_after, size_t limit) override;
  // Folders that it leaves empty go too.
  Result<void> Delete(std::span<const std::string> keys) override;
  StoreTraits traits() const override;

 private:
  LocalStore(std::string root, FileDescriptor root_fd, LocalStoreOptions options);

  Result<TemporaryFile> MakeTemporary(const std::string& key, PutMode mode);
  Result<void> WriteAndPlace(TemporaryFile& file, const std::string& key, std::span<const ByteView> pieces,
                             PutMode mode);
  Result<void> Place(TemporaryFile& file, const std::string& key, PutMode mode);
  Result<FileDescriptor> OpenFolder(const std::string& key);
  Result<void> MakeFolders(const std::string& key);
  // False where a folder vanished meanwhile.
  Result<bool> SyncAncestors(const std::string& folder, int folder_fd);
  void RemoveEmptyFolders(std::string folder);

  Result<FileDescriptor> OpenObject(std::string_view key);
  Result<void> ReadRange(ReadRequest& request);
  Result<void> ReadFile(int fd, ReadRequest& request);

  bool Exists(const std::string& key) const;
  bool RootIsGone() const;
  Error AlreadyExists(const std::string& key) const;
  Error NotFound(std::string_view key) const;
  Error ReadFailed(int code, std::string_view key) const;
  Error WriteFailed(int code, std::string_view key) const;
  std::string PathOf(std::string_view key) const;

  const std::string root_;  // For messages.
  const FileDescriptor root_fd_;
  const LocalStoreOptions options_;
  std::atomic<bool> unnamed_temporaries_;
  SpareFile spare_;

  std::mutex mutex_;
  // Folders whose own entries, up to the root, this store has synced, by inode.
  std::map<std::string, ino_t, std::less<>> synced_folders_;
};

}  // namespace batchweave
