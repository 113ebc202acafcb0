"""How amounts of money name their currency."""

from __future__ import annotations

__all__ = ["SIGNS", "currency_of"]

CODES = frozenset(
    {
        "AED", "ARS", "AUD", "BGN", "BRL", "CAD", "CHF", "CLP", "CNY", "COP", "CZK", "DKK", "EGP", "EUR", "GBP", "HKD",
        "HUF", "IDR", "ILS", "INR", "ISK", "JPY", "KES", "KRW", "MAD", "MXN", "MYR", "NGN", "NOK", "NZD", "PEN", "PHP",
        "PKR", "PLN", "RMB", "RON", "RSD", "RUB", "SAR", "SEK", "SGD", "THB", "TRY", "TWD", "UAH", "USD", "VND", "ZAR",
    }
)  # fmt: skip

STANDS_FOR = {
    "€": "EUR", "$": "USD", "US$": "USD", "£": "GBP", "₹": "INR", "Rs": "INR", "Rs.": "INR", "zł": "PLN", "Kč": "CZK",
    "Ft": "HUF", "Fr": "CHF", "Fr.": "CHF", "SFr.": "CHF", "R$": "BRL", "C$": "CAD", "A$": "AUD", "kr.": "kr",
}  # fmt: skip

SIGNS = tuple(sorted({*CODES, *STANDS_FOR, "kr"}, key=lambda sign: (-len(sign), sign)))
"""Every known way to write one, longest first; other signs of a currency are known by their Unicode category."""


def currency_of(sign: str) -> str:
    """Return the currency that a sign or code stands for: EUR for both ``€`` and ``EUR``."""
    return STANDS_FOR.get(sign, sign)
