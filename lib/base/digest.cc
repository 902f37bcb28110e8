#include "base/digest.h"

#include <algorithm>
#include <string>

#include "base/digest_avx2.h"
#include "base/hash.h"
#include "base/hex.h"
#include "base/io.h"

namespace gt {
namespace {

bool has_avx2() {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
#else
  return false;
#endif
}

}  // namespace

struct Digest::State {
  XXH3_state_t xxh;
};

Digest::Digest() : state_(std::make_shared<State>()) { clear(); }

void Digest::clear() {
  XXH3_64bits_reset(&state_->xxh);
  bytes_ = 0;
}

void Digest::add(std::string_view bytes) {
  if (has_avx2()) {
    add_with_avx2(&state_->xxh, bytes.data(), bytes.size());
  } else {
    XXH3_64bits_update(&state_->xxh, bytes.data(), bytes.size());
  }
  bytes_ += bytes.size();
}

uint64_t Digest::of(std::string_view bytes) {
  Digest digest;
  digest.add(bytes);
  return digest.value();
}

uint64_t Digest::value() const { return XXH3_64bits_digest(&state_->xxh); }

Status digest_up_to(Digest& digest, int fd, uint64_t bytes,
                    const std::atomic<bool>* stop) {
  constexpr uint64_t kChunk = uint64_t{1} << 20;
  if (digest.bytes() > bytes) digest.clear();
  std::string chunk;
  while (digest.bytes() < bytes) {
    if (stop != nullptr && stop->load()) return Error{"it was given up"};
    chunk.resize(static_cast<size_t>(std::min(kChunk, bytes - digest.bytes())));
    const Status s = read_at(fd, static_cast<size_t>(digest.bytes()),
                             chunk.data(), chunk.size());
    if (!s.ok()) return s;
    digest.add(chunk);
  }
  return ok_status();
}

std::string digest_text(uint64_t digest) {
  std::string text;
  append_hex(text, digest, 16);
  return text;
}

}  // namespace gt
