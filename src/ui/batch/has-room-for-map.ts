/** Between a phone and a wide window there is no room for the map of the cache; it is not asked for then. */
export const HAS_ROOM_FOR_MAP = "(min-width: 1280px), (max-width: 719px)";
