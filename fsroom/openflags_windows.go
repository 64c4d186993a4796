package fsroom

const openFlags = 0
