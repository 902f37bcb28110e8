#include "exec/backend/cuda/peer_copies.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "exec/backend/cuda/peer_board.h"

namespace gt::exec::cuda {
namespace {

// The slots for each other member: while one is emptied, the next is filled.
constexpr uint64_t kSlots = 2;
constexpr size_t kSlot = size_t{4} << 20;

// The moves to one member, or from it, done piece by piece.
struct Way {
  std::vector<DeviceLink::Move> moves;
  size_t move = 0, offset = 0;  // of the next piece
  uint64_t pieces = 0;          // pieces ever begun

  bool has_more() const { return move < moves.size(); }
  // Steps to the next piece and returns its address and size.
  std::pair<CUdeviceptr, size_t> next() {
    const DeviceLink::Move& from = moves[move];
    const size_t bytes = std::min(kSlot, from.bytes - offset);
    const auto data = reinterpret_cast<CUdeviceptr>(from.data) + offset;
    offset += bytes;
    if (offset == from.bytes) {
      ++move;
      offset = 0;
    }
    ++pieces;
    return {data, bytes};
  }
};

class PeerCopies final : public DeviceLink {
 public:
  PeerCopies(std::shared_ptr<Gpu> gpu, CUstream stream, std::string kind,
             OwnBoard board)
      : gpu_(std::move(gpu)),
        stream_(stream),
        kind_(std::move(kind)),
        board_(std::move(board)),
        batches_{Batch{CudaEvent(gpu_), {}}, Batch{CudaEvent(gpu_), {}}} {}
  ~PeerCopies() override;

  std::string kind() const override { return kind_; }
  std::string device() const override { return board_.word(); }
  // No id is needed, since the devices' texts identify the members.
  Result<std::string> make_id() override { return std::string("copies"); }
  Status join(std::string_view id, std::span<const std::string> devices,
              unsigned member) override;
  Status move(std::span<const Move> sends,
              std::span<const Move> receives) override;
  Result<bool> is_done() override;
  uint64_t progress() const override { return progress_; }
  void cancel() override;
  Status leave() override;

 private:
  enum class Phase : uint8_t { kIdle, kJoins, kMoves, kLeaves };
  struct Peer {
    // None for this member itself.
    std::optional<OthersBoard> board;
    CUdeviceptr staging = 0;  // 0: not open yet
    Way out, in;
  };
  // Pieces that are on their way, at most one of each Way. Once the event
  // behind them is reached, `counts` are announced: for each member, the pieces
  // written for it and taken from it.
  struct Batch {
    CudaEvent reached;
    std::vector<std::pair<uint64_t, uint64_t>> counts;
  };

  Status check(CUresult result, const char* call) const {
    return cuda::check(gpu_->api(), result, call);
  }
  Status show_staging();
  Result<bool> open_others();
  Status copy(CUdeviceptr to, CUdeviceptr from, size_t bytes);
  Result<bool> begin_pieces();
  Result<bool> take_pieces();
  Result<bool> advance();
  void say(const Batch& batch);
  Status close();
  bool have_all_left() const;
  void free_staging();

  std::shared_ptr<Gpu> gpu_;
  CUstream stream_;
  std::string kind_;
  OwnBoard board_;
  CUdeviceptr staging_ = 0;
  unsigned self_ = 0;
  std::vector<Peer> peers_;  // by member
  std::array<Batch, 2> batches_;
  // The oldest batch, and how many there are.
  size_t first_ = 0, under_way_ = 0;
  uint64_t progress_ = 0;
  Phase phase_ = Phase::kIdle;
};

// Returns the offset of a piece's slot in the staging area of member `owner`;
// the piece comes from member `writer`.
size_t slot_of(unsigned owner, unsigned writer, uint64_t piece) {
  const unsigned place = writer < owner ? writer : writer - 1;
  return (place * kSlots + piece % kSlots) * kSlot;
}

// ---- joining ----------------------------------------------------------------

Status PeerCopies::join(std::string_view /*id*/,
                        std::span<const std::string> devices, unsigned member) {
  if (devices.size() > Board::kMostMembers) {
    return Error{"copies join " + std::to_string(Board::kMostMembers) +
                 " workers at most"};
  }
  phase_ = Phase::kJoins;
  self_ = member;
  peers_.resize(devices.size());
  for (unsigned m = 0; m < devices.size(); ++m) {
    if (m == self_) continue;
    auto board = OthersBoard::find(devices[m]);
    if (!board.ok()) return board.error();
    peers_[m].board = std::move(board.value());
  }
  return show_staging();
}

// The size is a multiple of the slot size, so that no other memory is shared
// along with it.
Status PeerCopies::show_staging() {
  if (Status s = gpu_->enter(); !s.ok()) return s;
  const Driver& driver = gpu_->driver();
  const size_t bytes = (peers_.size() - 1) * kSlots * kSlot;
  Status s = check(driver.cuMemAlloc(&staging_, bytes), "cuMemAlloc");
  if (!s.ok()) return s;
  s = check(driver.cuIpcGetMemHandle(&board_->staging, staging_),
            "cuIpcGetMemHandle");
  if (s.ok()) board_->state.store(Board::State::kOpen);
  return s;
}

Result<bool> PeerCopies::open_others() {
  bool are_open = true;
  for (Peer& peer : peers_) {
    if (!peer.board || peer.staging != 0) continue;
    const Board::State state = (*peer.board)->state.load();
    if (state == Board::State::kLeft) return Error{"a worker has left"};
    if (state == Board::State::kNothing) {
      are_open = false;
      continue;
    }
    const Status s = check(
        gpu_->driver().cuIpcOpenMemHandle(&peer.staging, (*peer.board)->staging,
                                          CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
        "cuIpcOpenMemHandle");
    if (!s.ok()) return s.error();
  }
  return are_open;
}

// ---- moving -----------------------------------------------------------------

Status PeerCopies::move(std::span<const Move> sends,
                        std::span<const Move> receives) {
  phase_ = Phase::kMoves;
  for (Peer& peer : peers_) {
    peer.out.moves.clear();
    peer.in.moves.clear();
    peer.out.move = peer.in.move = 0;
  }
  for (const Move& m : sends) peers_[m.member].out.moves.push_back(m);
  for (const Move& m : receives) peers_[m.member].in.moves.push_back(m);
  return ok_status();
}

Status PeerCopies::copy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return check(gpu_->driver().cuMemcpyDtoDAsync(to, from, bytes, stream_),
               "cuMemcpyDtoDAsync");
}

// Begins to copy one piece to and from each other member, if a slot is free or
// full. Returns whether any copy was begun.
Result<bool> PeerCopies::begin_pieces() {
  Status s = ok_status();
  bool has_any = false;
  for (unsigned m = 0; s.ok() && m < peers_.size(); ++m) {
    Peer& peer = peers_[m];
    if (!peer.board) continue;
    const Board::Counts& theirs = (*peer.board)->with[self_];
    if (peer.out.has_more() && peer.out.pieces < theirs.taken.load() + kSlots) {
      const CUdeviceptr slot =
          peer.staging + slot_of(m, self_, peer.out.pieces);
      const auto [data, bytes] = peer.out.next();
      s = copy(slot, data, bytes);
      has_any = true;
    }
    if (s.ok() && peer.in.has_more() &&
        peer.in.pieces < theirs.written.load()) {
      const CUdeviceptr slot = staging_ + slot_of(self_, m, peer.in.pieces);
      const auto [data, bytes] = peer.in.next();
      s = copy(data, slot, bytes);
      has_any = true;
    }
  }
  if (!s.ok()) return s.error();
  return has_any;
}

void PeerCopies::say(const Batch& batch) {
  for (size_t m = 0; m < peers_.size(); ++m) {
    board_->with[m].written.store(batch.counts[m].first);
    board_->with[m].taken.store(batch.counts[m].second);
  }
}

// Announces the oldest batch if it is done. True if it was.
Result<bool> PeerCopies::take_pieces() {
  const Batch& oldest = batches_[first_];
  const CUresult reached = gpu_->driver().cuEventQuery(oldest.reached.get());
  if (reached == CUDA_ERROR_NOT_READY) return false;
  if (Status s = check(reached, "cuEventQuery"); !s.ok()) return s.error();
  say(oldest);
  first_ = 1 - first_;
  --under_way_;
  ++progress_;
  return true;
}

Result<bool> PeerCopies::advance() {
  while (under_way_ > 0) {
    const auto taken = take_pieces();
    if (!taken.ok()) return taken.error();
    if (!taken.value()) break;
  }
  if (under_way_ == batches_.size()) return false;
  const auto begun = begin_pieces();
  if (!begun.ok()) return begun.error();
  if (begun.value()) {
    Batch& batch = batches_[(first_ + under_way_) % batches_.size()];
    if (Status s = batch.reached.record(stream_); !s.ok()) return s.error();
    batch.counts.clear();
    for (const Peer& peer : peers_) {
      batch.counts.emplace_back(peer.out.pieces, peer.in.pieces);
    }
    ++under_way_;
  }
  return under_way_ == 0 &&
         std::none_of(peers_.begin(), peers_.end(), [](const Peer& peer) {
           return peer.out.has_more() || peer.in.has_more();
         });
}

Result<bool> PeerCopies::is_done() {
  if (phase_ == Phase::kIdle) return true;
  if (Status s = gpu_->enter(); !s.ok()) return s.error();
  const Result<bool> done = phase_ == Phase::kJoins    ? open_others()
                            : phase_ == Phase::kLeaves ? have_all_left()
                                                       : advance();
  if (!done.ok() || !done.value()) return done;
  if (phase_ == Phase::kLeaves) free_staging();
  phase_ = Phase::kIdle;
  return true;
}

// ---- its end ----------------------------------------------------------------

// The copies that were begun end soon, by themselves. If they cannot be waited
// for, the memory that they may still use is not freed.
Status PeerCopies::close() {
  if (peers_.empty()) return ok_status();
  phase_ = Phase::kIdle;
  Status s = gpu_->enter();
  if (s.ok()) {
    s = check(gpu_->driver().cuStreamSynchronize(stream_),
              "cuStreamSynchronize");
  }
  under_way_ = 0;
  for (Peer& peer : peers_) {
    if (!s.ok()) return s;
    if (peer.staging == 0) continue;
    s = check(gpu_->driver().cuIpcCloseMemHandle(peer.staging),
              "cuIpcCloseMemHandle");
    if (s.ok()) peer.staging = 0;
  }
  if (s.ok()) board_->state.store(Board::State::kLeft);
  return s;
}

void PeerCopies::cancel() { (void)close(); }

Status PeerCopies::leave() {
  Status s = close();
  phase_ = Phase::kLeaves;
  return s;
}

bool PeerCopies::have_all_left() const {
  return std::all_of(peers_.begin(), peers_.end(), [this](const Peer& peer) {
    return &peer == &peers_[self_] ||
           (peer.board && (*peer.board)->state.load() == Board::State::kLeft);
  });
}

void PeerCopies::free_staging() {
  if (staging_ == 0 || !gpu_->enter().ok()) return;
  (void)gpu_->driver().cuMemFree(std::exchange(staging_, 0));
}

// A member's staging area is freed once no other member has it open or can open
// it. If one still can, the area is freed when the process ends.
PeerCopies::~PeerCopies() {
  const bool was_shown = board_->state.load() != Board::State::kNothing;
  cancel();
  if (!was_shown || have_all_left()) free_staging();
}

// Returns an error if GPU memory cannot be shared with other processes, as on
// some virtual machines.
Status try_handle(Gpu& gpu) {
  if (Status s = gpu.enter(); !s.ok()) return s;
  CUdeviceptr data = 0;
  Status s =
      check(gpu.api(), gpu.driver().cuMemAlloc(&data, kSlot), "cuMemAlloc");
  if (!s.ok()) return s;
  CUipcMemHandle handle;
  s = check(gpu.api(), gpu.driver().cuIpcGetMemHandle(&handle, data),
            "cuIpcGetMemHandle");
  (void)gpu.driver().cuMemFree(data);
  return s;
}

}  // namespace

Result<std::unique_ptr<DeviceLink>> make_peer_copies(std::shared_ptr<Gpu> gpu,
                                                     CUstream stream) {
  const auto host = host_word();
  if (!host.ok()) return host.error();
  if (Status s = try_handle(*gpu); !s.ok()) return s.error();
  auto board = OwnBoard::make();
  if (!board.ok()) return board.error();
  return std::unique_ptr<DeviceLink>(std::make_unique<PeerCopies>(
      std::move(gpu), stream, "copies@" + host.value(),
      std::move(board.value())));
}

}  // namespace gt::exec::cuda
