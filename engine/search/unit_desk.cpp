#include <algorithm>
#include <utility>

#include "search/units.hpp"

namespace codt {

std::uint64_t UnitDesk::post(Unit unit) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t id = unit.id = ++last_id_;
    entries_.emplace(id, Entry{std::move(unit), {}});
    waiting_.push_back(id);
    posted_.notify_one();
    return id;
}

void UnitDesk::withdraw(std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    entries_.erase(id);
}

void UnitDesk::lower_cutoff(std::uint64_t id, double cutoff) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end()) return;
    double& known = found->second.unit.known.cutoff;
    known = std::min(known, cutoff);
}

std::vector<std::pair<std::uint64_t, UnitReport>> UnitDesk::collect(std::span<const std::uint64_t> ids,
                                                                    std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    const auto any = [&] {
        return std::any_of(ids.begin(), ids.end(), [&](std::uint64_t id) {
            const auto found = entries_.find(id);
            return found != entries_.end() && !found->second.unread.empty();
        });
    };
    if (!any()) reported_.wait_for(lock, patience);
    std::vector<std::pair<std::uint64_t, UnitReport>> reports;
    for (const std::uint64_t id : ids) {
        const auto found = entries_.find(id);
        if (found == entries_.end()) continue;
        for (UnitReport& report : found->second.unread) reports.emplace_back(id, std::move(report));
        found->second.unread.clear();
    }
    return reports;
}

std::optional<Unit> UnitDesk::take(std::chrono::duration<double> patience) {
    std::unique_lock lock(mutex_);
    posted_.wait_for(lock, patience, [&] { return !waiting_.empty(); });
    while (!waiting_.empty()) {
        const auto found = entries_.find(waiting_.front());
        waiting_.pop_front();
        if (found != entries_.end()) return found->second.unit;
    }
    return std::nullopt;
}

std::optional<double> UnitDesk::report(std::uint64_t id, UnitReport report) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end()) return std::nullopt;
    std::vector<UnitReport>& unread = found->second.unread;
    // A lost solver's unit may end twice.
    if (unread.empty() || unread.back().end == UnitEnd::none) unread.push_back(std::move(report));
    reported_.notify_all();
    return found->second.unit.known.cutoff;
}

}  // namespace codt
