"""Made-up passengers of a ship, to try tables on: passengers.csv to fit a tree to, and later.csv to predict.

Who survives depends on sex, class, age, port and day of boarding, and a little on chance. Some ages and ports are
missing: nobody wrote down the ages of the men who rowed the boats. Two of the later passengers come from a port that
none of the others does.
"""

from __future__ import annotations

import csv
import random
from datetime import date, timedelta

FIRST = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gwen", "Hugo", "Ida", "Jon", "Kim", "Leo", "Mia", "Ned", "Ola")
LAST = ("Abbot", "Berg", "Costa", "Dunn", "Engel", "Fox", "Grant", "Holm", "Iversen", "Jones", "Klein", "Lund", "Moss")
PORTS = ("Southampton", "Cherbourg", "Queenstown")
FARES = {1: 80.0, 2: 20.0, 3: 9.0}


def passenger(number: int, draw: random.Random) -> dict[str, object]:
    """One passenger; what is missing is an empty cell."""
    sex = draw.choice(("female", "male"))
    travels = draw.choices((1, 2, 3), (2, 2, 5))[0]
    port = draw.choices(PORTS, (5, 4, 2))[0]
    boarded = date(1912, 4, 1) + timedelta(days=draw.randrange(10))
    age = max(1, round(draw.gauss(33, 15)))
    rows_a_boat = sex == "male" and travels < 3 and age > 16 and draw.random() < 0.15
    if travels == 3:
        survives = boarded.day > 8 or (sex == "female" and port == "Cherbourg")
    else:
        survives = sex == "female" or age < 12 or rows_a_boat
    if draw.random() < 0.07:
        survives = not survives
    known = not rows_a_boat and draw.random() > 0.1 * (travels == 3)
    return {
        "name": f"{draw.choice(LAST)}, {draw.choice(FIRST)} ({number})",
        "class": travels,
        "sex": sex,
        "age": age if known else "",
        "fare": f"{FARES[travels] * draw.lognormvariate(0, 0.5):.2f}",
        "port": port if draw.random() > 0.02 else "",
        "boarded": boarded.isoformat(),
        "survived": "yes" if survives else "no",
    }


def write(name: str, rows: list[dict[str, object]]) -> None:
    with open(name, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    print(f"{name}: {len(rows)} passengers, {sum(row['survived'] == 'yes' for row in rows)} survived")


def main() -> None:
    draw = random.Random(2)
    rows = [passenger(number, draw) for number in range(1, 601)]
    write("passengers.csv", rows[:450])
    for row in rows[450:452]:
        row["port"] = "Belfast"
    write("later.csv", rows[450:])


if __name__ == "__main__":
    main()
