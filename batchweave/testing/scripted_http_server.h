// An HTTP server on loopback that answers as it is told, whatever it is asked: for what real servers do once a year.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "batchweave/testing/loopback_http_server.h"

namespace batchweave {

// "HTTP/1.1 503 Scripted\r\n<headers>Content-Length: ...\r\n\r\n<body>". `headers` end in "\r\n" each.
std::string HttpAnswer(int status, std::string_view headers = "", std::string_view body = "");

// In place of an answer: none, and the connection stays.
inline constexpr std::string_view kNoHttpAnswer = "none";

class ScriptedHttpServer {
 public:
  // The n-th request gets the n-th of `answers`, byte for byte, and those after the last one the last. The connection is
  // kept open where the answer is whole (its Content-Length agrees), else closed; an empty answer only closes it.
  explicit ScriptedHttpServer(std::vector<std::string> answers);

  // "http://127.0.0.1:PORT"
  std::string url() const;
  // All up to now, each with its headers, names in lower case.
  std::vector<std::string> requests() const;

 private:
  bool Serve(int connection, const HttpMessage& request);
  std::string NextAnswer(std::string request);

  const std::vector<std::string> answers_;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  LoopbackHttpServer server_;  // Last: its threads use the rest.
};

}  // namespace batchweave
