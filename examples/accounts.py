"""Accounts that pay each other, some of them fraudulent: the example data of the documentation.

    python examples/accounts.py               # writes my-graph/nodes.csv and my-graph/edges.csv
    python examples/accounts.py picks.csv     # fills the label column of a sheet, as a person would

80 of 1,000 accounts are fraudulent, in rings of ten that pay each other; the others pay within
their country.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

ACCOUNTS, FRAUDS, RING = 1_000, 80, 10


def made_tables(seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, str]]:
    """Return accounts with columns of every kind, payments, and the class of each account."""
    draw = np.random.default_rng(seed)
    fraud = np.isin(np.arange(ACCOUNTS), draw.choice(ACCOUNTS, FRAUDS, replace=False))
    country = draw.choice(["DE", "FR", "NL", "CY", "LT"], ACCOUNTS, p=[0.5, 0.2, 0.15, 0.1, 0.05])
    trade = draw.choice(["Bakery", "Garage", "Studio", "Traders", "Consulting"], ACCOUNTS)
    days = draw.exponential(np.where(fraud, 300, 900)).astype(int)
    ids = np.array([f"A{number:04d}" for number in range(ACCOUNTS)])
    accounts = pd.DataFrame(
        {
            "id": ids,
            "name": [f"{kind} {number}" for number, kind in enumerate(trade)],
            "opened": (pd.Timestamp("2026-01-01") - pd.to_timedelta(days, unit="D")).strftime("%Y-%m-%d"),
            "country": country,
            "turnover": np.round(draw.lognormal(np.where(fraud, 8.5, 7.5), 0.9), 2),
            "at_night": np.round(np.clip(draw.normal(np.where(fraud, 0.3, 0.18), 0.12), 0, 1), 2),
            "business": draw.choice(["yes", "no"], ACCOUNTS),
        }
    )
    rings = draw.permutation(np.flatnonzero(fraud)).reshape(-1, RING)
    pairs = [(payer, payee) for ring in rings for payer in ring for payee in draw.choice(ring, 4)]
    for payer in range(ACCOUNTS):
        honest = ~fraud if fraud[payer] else ~fraud & (country == country[payer])
        pairs += [(payer, payee) for payee in draw.choice(np.flatnonzero(honest), 2 if fraud[payer] else 3)]
    ends = np.array([(payer, payee) for payer, payee in pairs if payer != payee])
    amounts = np.round(draw.lognormal(np.where(fraud[ends[:, 0]], 5, 4), 1), 2)
    payments = pd.DataFrame({"source": ids[ends[:, 0]], "target": ids[ends[:, 1]], "weight": amounts})
    return accounts, payments, dict(zip(ids.tolist(), np.where(fraud, "fraud", "ok").tolist(), strict=True))


def fill(sheet: Path) -> None:
    """Fill the empty cells of the label column of a sheet with the truth."""
    rows = pd.read_csv(sheet, dtype={"label": str})
    rows["label"] = rows["label"].fillna(rows["id"].map(made_tables()[2]))
    rows.to_csv(sheet, index=False)
    print(f"Filled the label column of {sheet}.")


def write(folder: Path) -> None:
    """Write the tables, unless the folder holds anything else."""
    accounts, payments, _ = made_tables()
    texts = {"nodes.csv": accounts.to_csv(index=False), "edges.csv": payments.to_csv(index=False)}
    for path in sorted(folder.glob("[!.]*")):
        if not path.is_file() or path.read_bytes() != texts.get(path.name, "").encode():
            sys.exit(f"{path} was not written by this script. Move {folder} away, or run the script elsewhere.")
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_bytes(text.encode())
    print(f"Wrote {len(accounts):,} accounts and {len(payments):,} payments to {folder}.")


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        fill(path)
    if not sys.argv[1:]:
        write(Path("my-graph"))
