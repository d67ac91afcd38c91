"""The colours of all charts: one per measure, and few others."""

from __future__ import annotations

# Okabe and Ito's colour-blind-safe palette first, then others that differ from it; each measure has a colour of these.
PALETTE = (
    "#D55E00",
    "#0072B2",
    "#009E73",
    "#E69F00",
    "#56B4E9",
    "#CC79A7",
    "#882255",
    "#3E2723",
    "#8C564B",
    "#5B3A8E",
    "#BCBD22",
    "#1B7837",
    "#762A83",
)
ORANGE, BLUE = PALETTE[:2]
# What comes from chance is grey, everywhere; what is no measure is slate or nearly black; what joins two dots is pale.
CHANCE, SLATE, INK, PALE = "#7F7F7F", "#5A7391", "#222222", "#BBBBBB"
