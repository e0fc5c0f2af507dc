#include "batchweave/base/mutation.h"

#include <algorithm>

namespace batchweave {
namespace {

constexpr MutationInfo kMutations[] = {
#define BW_INFO(name, invariant, breach) {Mutation::name, #name, invariant, breach},
    BW_MUTATIONS(BW_INFO)
#undef BW_INFO
};

}  // namespace

#ifdef BATCHWEAVE_MUTANTS
Mutation active_mutation = Mutation::kNone;

bool SetMutation(Mutation mutation) {
  active_mutation = mutation;
  return true;
}
#else
bool SetMutation(Mutation) { return false; }
#endif

std::span<const MutationInfo> AllMutations() { return kMutations; }

std::string_view MutationName(Mutation mutation) {
  const auto* const found = std::ranges::find(kMutations, mutation, &MutationInfo::mutation);
  return found == std::end(kMutations) ? "kNone" : found->name;
}

std::optional<Mutation> FindMutation(std::string_view name) {
  const auto* const found = std::ranges::find(kMutations, name, &MutationInfo::name);
  if (found == std::end(kMutations)) return std::nullopt;
  return found->mutation;
}

}  // namespace batchweave
