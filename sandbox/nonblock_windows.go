package sandbox

const nonblock = 0
