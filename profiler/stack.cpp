// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "stack.hpp"

namespace mpigauge::profile {

namespace {

// Processors may sign return addresses in their upper bits.
Word plain(Word pc) {
#if defined(__aarch64__)
  return pc & ((Word{1} << 48U) - 1);
#else
  return pc;
#endif
}

class Walk {
 public:
  Walk(const Caller& caller, Stack& stack) : sp_(caller.sp), fp_(caller.fp), stack_(stack) {}

  // Goes on to the caller; 0 where the stack ends.
  Word step(const Rule& rule) {
    const Word upper = upper_end(rule);
    constexpr Word words = sizeof(Word);
    if (upper <= sp_ || upper % words != 0) return 0;  // stacks grow downwards
    const Word pc = read(upper + static_cast<Word>(static_cast<std::intptr_t>(rule.return_offset)));
    if (rule.fp == Rule::Saved::in_frame) {
      follow_fp(upper + static_cast<Word>(static_cast<std::intptr_t>(rule.fp_offset)));
    } else if (rule.fp == Rule::Saved::from_fp) {
      use_fp();
      follow_fp(fp_ + static_cast<Word>(static_cast<std::intptr_t>(rule.fp_offset)));
    }
    sp_ = upper;
    return plain(pc);
  }

 private:
  Word upper_end(const Rule& rule) {
    const auto offset = static_cast<Word>(static_cast<std::intptr_t>(rule.frame_offset));
    if (rule.frame == Rule::Frame::from_sp) return sp_ + offset;
    if (rule.frame == Rule::Frame::end) return 0;
    use_fp();
    if (rule.frame == Rule::Frame::from_fp) return fp_ + offset;
    const bool plausible = fp_ + offset >= sp_ && (fp_ + offset) % sizeof(Word) == 0;
    return plausible ? read(fp_ + offset) : 0;
  }

  Word read(Word at) {
    const Word value = value_at<Word>(at);
    stack_.check[stack_.checks++] = {reinterpret_cast<const Word*>(at), value};
    return value;
  }

  // The frame pointer's value is read at once, and becomes a word to check when something depends
  // on it.
  void follow_fp(Word at) {
    fp_at_ = at;
    fp_ = value_at<Word>(at);
    fp_used_ = false;
  }

  void use_fp() {
    if (fp_used_) return;
    fp_used_ = true;
    if (fp_at_ == 0) {
      stack_.used_fp = true;
    } else {
      stack_.check[stack_.checks++] = {reinterpret_cast<const Word*>(fp_at_), fp_};
    }
  }

  Word sp_, fp_;
  Word fp_at_ = 0;  // where it was read; 0: in the register
  bool fp_used_ = false;
  Stack& stack_;
};

}  // namespace

void unwind(const Caller& caller, std::uint32_t frames, FindRule find, Stack& stack) {
  stack.frames = 0;
  stack.checks = 0;
  stack.used_fp = false;
  Walk walk(caller, stack);
  for (Word pc = plain(caller.pc); pc != 0 && stack.frames < frames;) {
    stack.pc[stack.frames++] = pc;
    if (stack.frames < frames) pc = walk.step(find(pc));
  }
}

}  // namespace mpigauge::profile
