/**
 * Writes the code that a worker has compiled to the cache of Node (scripts/bootstrap.mjs), for the workers after it. Node writes it at
 * the exit of a process, but Vitest ends its workers by a signal.
 */
import { flushCompileCache } from 'node:module'
import { afterAll } from 'vitest'

afterAll(() => flushCompileCache())
