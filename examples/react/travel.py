"""What the planner works with: types, tools and the sub-agent that sells hotel rooms. The same for job code and YAML."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from flink_agents_subagent import BaseDeferredSubagentSetup, SubagentRequest

_DISTANCES = {"Oslo": 1280, "Lisbon": 2310}
_RATES = {"NOK": 11.5, "EUR": 1.0}
_HOTELS = {"Oslo": ("Fjord View", 1840.0, "NOK"), "Lisbon": ("Casa Azul", 95.0, "EUR")}
_WEATHER = {"Oslo": ["snow", "sun", "snow"], "Lisbon": ["sun", "rain", "sun"]}


class Stay(BaseModel):
    """What the hotels are asked for."""

    city: str
    nights: int


class Offer(BaseModel):
    """What a hotel offers."""

    hotel: str
    price: float
    currency: str


class Plan(BaseModel):
    """What the planner answers."""

    city: str
    distance_km: int
    hotel: str
    price_eur: float
    packing: str


def distance_km(city: str) -> int:
    """Tell how far a city is.

    Args:
        city: Its name.
    """
    return _DISTANCES[city]


def exchange_rate(currency: str) -> float:
    """Tell how much of a currency one euro is.

    Args:
        currency: Its code, as in NOK.
    """
    return _RATES[currency]


async def forecast(city: str, day: int) -> str:
    """Tell the weather of a city on a day of the trip.

    Args:
        city: Its name.
        day: The day, counted from 1; there are three.
    """
    return _WEATHER[city][day - 1]


class Hotels(BaseDeferredSubagentSetup):
    """A sub-agent that offers a room; a real one asks a service, with the call id as its idempotency key."""

    def __init__(self, **described: Any) -> None:
        super().__init__(
            **{"description": "Offers a hotel room.", "input_type": Stay, "result_type": Offer, **described}
        )

    async def call(self, request: SubagentRequest) -> Offer:
        """Offer a room; what a model asks for arrives as it gave it, a dict."""
        stay = Stay.model_validate(request.prompt)
        hotel, price, currency = _HOTELS[stay.city]
        return Offer(hotel=hotel, price=price * stay.nights, currency=currency)
