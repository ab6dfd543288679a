#!/usr/bin/env node
/** `backstop`, the command line of the management API. */
import { hostname, userInfo } from 'node:os'
import { runCommandLine } from './command-line.ts'
import { readInput } from './read-input.ts'

// The reader of a pipe may close it after the first lines, as `| head` does. That is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

process.exitCode = await runCommandLine(process.argv.slice(2), {
  environment: process.env,
  folder: process.cwd(),
  out: text => process.stdout.write(text),
  err: text => process.stderr.write(text),
  readInput,
  isTerminal: process.stderr.isTTY === true,
  operator: `${userName()}@${hostname()}`,
  now: Date.now,
})

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // In a container, the user id may have no name.
    return String(process.getuid?.() ?? 'unknown')
  }
}
