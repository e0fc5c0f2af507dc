#include "batchweave/base/threads.h"

#include <pthread.h>

#include <thread>
#include <utility>

namespace batchweave {
namespace {

class SystemThread final : public Thread {
 public:
  SystemThread(std::string name, std::function<void()> body)
      : thread_([name = std::move(name), body = std::move(body)] {
          pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
          body();
        }) {}
  ~SystemThread() override { thread_.join(); }

 private:
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Thread> SystemThreads::Start(std::string name, std::function<void()> body) {
  return std::make_unique<SystemThread>(std::move(name), std::move(body));
}

}  // namespace batchweave
