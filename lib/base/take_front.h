// Takes the first element off a queue: front() and pop_front() in one.
#pragma once

#include <deque>
#include <utility>

namespace gt {

// Moves the first element to `front`; false if the queue is empty.
template <typename T>
bool take_front(std::deque<T>& queue, T& front) {
  if (queue.empty()) return false;
  front = std::move(queue.front());
  queue.pop_front();
  return true;
}

}  // namespace gt
