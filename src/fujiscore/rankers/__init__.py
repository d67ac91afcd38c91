"""Feature rankers."""
from fujiscore.rankers.relief import relief
from fujiscore.rankers.information import mutual_information
