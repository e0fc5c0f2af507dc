// Real servers of objects, started by a test on loopback and ended with it. tools/servers.sh installs them.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "batchweave/store/cloud/cloud_store.h"
#include "batchweave/testing/temporary_directory.h"

namespace batchweave {

// The PEM files by which a server speaks TLS: what tests/cloud/make_certificates.sh makes in a folder under a name.
struct TlsFiles {
  std::string certificate;
  std::string key;
};

// All of them, made anew.
class TestCertificates {
 public:
  TestCertificates();
  TlsFiles files(const std::string& name) const;

 private:
  TemporaryDirectory folder_;
};

class LocalServer {
 public:
  // Each with an empty bucket "bucket"; null where it is not installed.
  static std::unique_ptr<LocalServer> Versitygw();           // S3.
  static std::unique_ptr<LocalServer> VersitygwVersioned();  // The bucket keeps what is deleted or overwritten.
  static std::unique_ptr<LocalServer> VersitygwLocked();     // The same, and for a day nobody may remove that.
  static std::unique_ptr<LocalServer> VersitygwTls(const TlsFiles& files);
  static std::unique_ptr<LocalServer> VersitygwWithUser();  // It knows a second user, who may do what Allow says.
  static std::unique_ptr<LocalServer> Minio();              // S3.
  static std::unique_ptr<LocalServer> MinioVersioned();     // As of versitygw.
  static std::unique_ptr<LocalServer> MinioLocked();
  static std::unique_ptr<LocalServer> MinioTls(const TlsFiles& files);
  static std::unique_ptr<LocalServer> Azurite();  // Azure.
  static std::unique_ptr<LocalServer> GcsStub();  // What GCS does as its manual says: gcs_stub.py.

  // Those that break a rule: s3rver takes no notice of conditions; in s3s-fs creators race; the stub has a `vice` of those in
  // gcs_stub.py.
  static std::unique_ptr<LocalServer> S3rver();
  static std::unique_ptr<LocalServer> S3sFs();
  static std::unique_ptr<LocalServer> GcsStubWith(const std::string& vice);

  ~LocalServer();
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  // "s3://bucket/<path>?...", or as the server's kind is; by way of another port where one is given.
  std::string Url(const std::string& path) const { return Url(path, port_); }
  std::string Url(const std::string& path, int port) const;
  // Credentials; and the same as a program takes them, as "NAME=value".
  const StorageOptions& options() const { return options_; }
  const std::vector<std::string>& variables() const { return variables_; }
  int port() const { return port_; }

  // By a policy of the bucket, of the second user, or of MinIO of those who do not say who they are: what they may do, and no
  // more. "s3:GetObject", of all objects; or "s3:DeleteObject=*/probe/*", of those whose keys are such.
  void Allow(const std::vector<std::string>& actions) const;
  const StorageOptions& limited_options() const { return limited_options_; }

  // kill -9.
  void Kill();
  // Again, on the same port and data.
  void Start();

 private:
  LocalServer();
  static std::unique_ptr<LocalServer> MakeVersitygw();
  static std::unique_ptr<LocalServer> VersitygwWith(const std::string& bucket_kind);
  static std::unique_ptr<LocalServer> MinioWith(const std::string& bucket_kind);

  void SpeakS3(const std::string& key, const std::string& secret);
  void SetBucket(const std::vector<std::string>& words) const;

  TemporaryDirectory data_;
  int port_ = 0;
  std::vector<std::string> command_;
  std::vector<std::string> environment_;
  std::string scheme_;
  std::string endpoint_scheme_ = "http";
  std::string endpoint_path_;
  std::string query_;
  StorageOptions options_;
  std::string limited_user_;
  StorageOptions limited_options_;
  std::vector<std::string> variables_;
  pid_t process_ = 0;
};

// For tests that run on each of them.
struct ServerCase {
  std::string name;
  std::unique_ptr<LocalServer> (*start)();
  bool keeps_what_it_acknowledged = true;  // Also through kill -9.
};

// Azurite writes its index to disk every few seconds, and loses what came since.
inline const ServerCase kServers[] = {{"versitygw", LocalServer::Versitygw},
                                      {"minio", LocalServer::Minio},
                                      {"azurite", LocalServer::Azurite, false},
                                      {"gcs_stub", LocalServer::GcsStub}};

inline void PrintTo(const ServerCase& item, std::ostream* out) { *out << item.name; }
inline std::string ServerName(const ::testing::TestParamInfo<ServerCase>& info) { return info.param.name; }

}  // namespace batchweave
