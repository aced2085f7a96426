"""Fit an optimal tree, read the proof, and stop early when time is short."""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score

from codt import OptimalTreeClassifier


def main() -> None:
    data = load_breast_cancer(as_frame=True)

    model = OptimalTreeClassifier(max_depth=3).fit(data.data, data.target)
    print(model.export_text())
    print(f"{model.loss_} of {len(data.target)} misclassified; no tree of depth 3 has fewer: {model.status_}")

    # A penalty for every branching node buys a smaller tree: each has to save 1 % of the samples.
    small = OptimalTreeClassifier(max_depth=3, complexity_cost=0.01).fit(data.data, data.target)
    print(f"with a complexity cost: {small.tree_.n_leaves} leaves, {small.loss_} misclassified")

    # With a time limit the best tree so far is kept, and the gap says how far it can be from the optimum.
    hurried = OptimalTreeClassifier(max_depth=4, time_limit=1).fit(data.data, data.target)
    print(f"one second at depth 4: {hurried.loss_} misclassified, gap {hurried.gap_:.0%}, {hurried.status_}")

    # Fewest training errors is not the same as fewest errors on new data: measure those.
    scores = cross_val_score(OptimalTreeClassifier(max_depth=2), data.data, data.target, cv=5)
    print(f"accuracy of depth 2 on held-out data: {scores.mean():.3f}")


if __name__ == "__main__":
    main()
