import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { CommandFault } from './exit-code.ts'
import type { Surroundings, Typed } from './surroundings.ts'

interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly output: NodeJS.WritableStream
}

/** Reads standard input to its end. On a terminal it asks for one line. */
export async function readInput(
  question: string,
  typed: Typed,
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<string> {
  if (!input.isTTY) return text(input)
  if (typed === 'shown') return askLine(question, { input, output })
  output.write(question)
  try {
    return await askLine('', { input, output: new Writable({ write: (_chunk, _encoding, done) => done() }) })
  } finally {
    output.write('\n')
  }
}

async function askLine(question: string, terminal: Terminal): Promise<string> {
  const lines = createInterface({ ...terminal, terminal: true })
  try {
    return await lines.question(question)
  } finally {
    lines.close()
  }
}

/** Reads a secret. Arguments are visible to other users of the machine, so secrets are read from standard input. */
export async function readSecret(question: string, { readInput }: Pick<Surroundings, 'readInput'>): Promise<string> {
  const secret = (await readInput(question, 'hidden')).trim()
  if (secret !== '') return secret
  throw new CommandFault('misused', 'Give the secret on standard input')
}
