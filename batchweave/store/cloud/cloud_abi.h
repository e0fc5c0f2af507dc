// The C ABI of the Rust library in src/, which speaks to S3, GCS and Azure. cloud_store.h is what the rest of the project
// uses.
//
// Every call is one attempt, blocks until it has ended, and may be made from any thread, also of a forked child. Nothing is
// kept of what an argument points to.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

// As ErrorCode says; 0 is success.
enum BwcCode : int32_t {
  kBwcOk = 0,
  kBwcInvalidArgument = 1,
  kBwcNotFound = 2,
  kBwcAlreadyExists = 3,
  kBwcUnavailable = 4,
  kBwcUnknownOutcome = 5,
  kBwcDenied = 6,
};

struct BwcHandle;
struct BwcUpload;

struct BwcView {
  const void* data;
  size_t size;
};

// How a call ended. Holds no URL and no credential.
struct BwcStatus {
  BwcCode code;
  uint32_t retry_after_ms;  // What the server asked for; 0 where it did not.
  size_t message_size;
  char message[496];
};

struct BwcPart {
  const BwcView* pieces;
  size_t count;
};

struct BwcOption {
  BwcView name;
  BwcView value;
};

// One range of one object, as a ReadRequest.
struct BwcRead {
  BwcView key;
  uint64_t offset;
  void* buffer;
  size_t size;
  void* observer;  // For on_bytes, which may be null: told of each piece in the buffer, in order, by a foreign thread.
  void (*on_bytes)(void* observer, const void* data, size_t size);
  size_t received;  // Out.
  bool done;        // Out: it was read, whatever became of the others.
};

// Null where it failed. Checks options and URL; asks no server.
BwcHandle* bwc_open(BwcView url, const BwcOption* options, size_t count, BwcStatus* status);
void bwc_close(BwcHandle* handle);
bool bwc_lists_in_order(const BwcHandle* handle);
uint64_t bwc_put_bytes_max(const BwcHandle* handle);

// Ranges asked for up to now, and in `hedged` how many of them were asked for twice.
uint64_t bwc_reads(const BwcHandle* handle, uint64_t* hedged);

void bwc_put(const BwcHandle* handle, BwcView key, const BwcView* pieces, size_t count, bool create, BwcStatus* status);

// A large object goes in parts, of which nobody sees anything before bwc_upload_complete. 0: in one piece, by bwc_put.
uint64_t bwc_part_bytes(const BwcHandle* handle, uint64_t size);
// Null where it failed.
BwcUpload* bwc_upload_begin(const BwcHandle* handle, BwcView key, size_t parts, BwcStatus* status);
// All parts are named; those that are there already are not sent again.
void bwc_upload_parts(const BwcHandle* handle, BwcUpload* upload, const BwcPart* parts, size_t count,
                      BwcStatus* status);
void bwc_upload_complete(const BwcHandle* handle, BwcUpload* upload, bool create, BwcStatus* status);
void bwc_upload_abort(const BwcHandle* handle, BwcUpload* upload, BwcStatus* status);
void bwc_upload_free(BwcUpload* upload);

// Of those that nobody has completed or aborted, whoever began them; `on_upload` is called by this thread.
void bwc_unfinished_list(const BwcHandle* handle, BwcView prefix, void* context,
                         void (*on_upload)(void* context, BwcView key, BwcView id), BwcStatus* status);
void bwc_unfinished_abort(const BwcHandle* handle, BwcView key, BwcView id, BwcStatus* status);

void bwc_get(const BwcHandle* handle, BwcRead* reads, size_t count, BwcStatus* status);
// The whole of an object; `on_bytes` is called by this thread.
void bwc_read(const BwcHandle* handle, BwcView key, void* context,
              void (*on_bytes)(void* context, const void* data, size_t size), BwcStatus* status);
uint64_t bwc_stat(const BwcHandle* handle, BwcView key, BwcStatus* status);
// One page; the functions are called by this thread.
void bwc_list(const BwcHandle* handle, BwcView prefix, BwcView start_after, size_t limit, void* context,
              void (*on_object)(void* context, BwcView key, uint64_t size_bytes),
              void (*on_next)(void* context, BwcView next_start_after), BwcStatus* status);
// Sets `done` of each key that is gone; a key of which it is set already may be named again.
void bwc_delete(const BwcHandle* handle, const BwcView* keys, bool* done, size_t count, BwcStatus* status);
}
