#include "batchweave/testing/private_mounts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>
#include <utility>

namespace batchweave {
namespace {

bool WriteFile(const char* path, std::string_view text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(fd);
  return written;
}

// Who is not root may still be root of a namespace of his own, where the system allows it.
bool BecomeRootOfANamespace() {
  const std::string user = fmt::format("0 {} 1", getuid());
  const std::string group = fmt::format("0 {} 1", getgid());
  return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && WriteFile("/proc/self/setgroups", "deny") &&
         WriteFile("/proc/self/uid_map", user) && WriteFile("/proc/self/gid_map", group);
}

}  // namespace

bool EnterPrivateMounts() {
  if (unshare(CLONE_NEWNS) != 0 && !BecomeRootOfANamespace()) return false;
  return mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

ScopedMount ScopedMount::Tmpfs(const std::string& path, size_t size_bytes) {
  const std::string options = fmt::format("size={}", size_bytes);
  return ScopedMount(mount("tmpfs", path.c_str(), "tmpfs", 0, options.c_str()) == 0 ? path : "");
}

ScopedMount ScopedMount::ReadOnly(const std::string& path) {
  if (mount(path.c_str(), path.c_str(), nullptr, MS_BIND, nullptr) != 0) return ScopedMount("");
  ScopedMount bound(path);
  const bool read_only = mount(nullptr, path.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) == 0;
  return read_only ? std::move(bound) : ScopedMount("");
}

ScopedMount ScopedMount::Overlay(const std::string& path) {
  for (const char* layer : {"lower", "upper", "work", "merged"}) {
    if (mkdir(fmt::format("{}/{}", path, layer).c_str(), 0777) != 0) return ScopedMount("");
  }
  const std::string merged = path + "/merged";
  const std::string options = fmt::format("lowerdir={0}/lower,upperdir={0}/upper,workdir={0}/work", path);
  return ScopedMount(mount("overlay", merged.c_str(), "overlay", 0, options.c_str()) == 0 ? merged : "");
}

ScopedMount::ScopedMount(ScopedMount&& other) noexcept : path_(std::exchange(other.path_, "")) {}

ScopedMount::~ScopedMount() {
  if (mounted()) umount2(path_.c_str(), MNT_DETACH);
}

}  // namespace batchweave
