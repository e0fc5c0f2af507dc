// Real servers of objects, started by a test on loopback and ended with it. tools/servers.sh installs them.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "batchweave/store/cloud/cloud_store.h"
#include "batchweave/testing/temporary_directory.h"

namespace batchweave {

class LocalServer {
 public:
  // versitygw (S3) with an empty bucket "bucket"; null where it is not installed.
  static std::unique_ptr<LocalServer> Versitygw();

  ~LocalServer();
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  // "s3://bucket/<path>?..."
  std::string Url(const std::string& path) const;
  // Credentials.
  const StorageOptions& options() const { return options_; }

  // kill -9.
  void Kill();
  // Again, on the same port and data.
  void Start();

 private:
  LocalServer() = default;

  TemporaryDirectory data_;
  int port_ = 0;
  std::vector<std::string> command_;
  std::vector<std::string> environment_;
  std::string query_;
  StorageOptions options_;
  pid_t process_ = 0;
};

}  // namespace batchweave
