import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { StackError } from './stack-contract.ts'

/**
 * The lowest port to choose, below the range that systems use for outgoing connections (Linux 32768–60999, macOS from
 * 49152). Inside the range another program could use the port of a stopped part, and a client that connects to a closed
 * port may even connect to itself.
 */
const LOWEST = 21_000
const HIGHEST = 29_999

export interface PortWish {
  /** Required by the caller: if the port is in use, the start fails. */
  wanted?: number | undefined
  /** The port of an earlier start: preferred if it is free. */
  remembered?: number | undefined
}

/**
 * Chooses a different port for each name.
 * @throws StackError if a required port is in use
 */
export async function choosePorts<Name extends string>(
  wishes: Record<Name, PortWish>,
  isFree: (port: number) => Promise<boolean> = isPortFree,
  randomPort: () => number = () => randomInt(LOWEST, HIGHEST + 1),
): Promise<Record<Name, number>> {
  const names = Object.keys(wishes) as Name[]
  const taken = new Set(names.map(name => wishes[name].wanted).filter(port => port !== undefined))
  const chosen = {} as Record<Name, number>
  for (const name of names) {
    chosen[name] = await choosePort(name, wishes[name], taken, isFree, randomPort)
    taken.add(chosen[name])
  }
  return chosen
}

async function choosePort(
  name: string,
  { wanted, remembered }: PortWish,
  taken: Set<number>,
  isFree: (port: number) => Promise<boolean>,
  randomPort: () => number,
): Promise<number> {
  if (wanted !== undefined) {
    if (await isFree(wanted)) return wanted
    throw new StackError(
      `Port ${wanted}, asked for ${name}, is in use`,
      `Stop what listens on 127.0.0.1:${wanted}, or ask for another port`,
    )
  }
  if (remembered !== undefined && !taken.has(remembered) && (await isFree(remembered))) return remembered
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const port = randomPort()
    if (!taken.has(port) && (await isFree(port))) return port
  }
  throw new StackError(
    `No free port between ${LOWEST} and ${HIGHEST} for ${name}`,
    'Stop other programs, or ask for a port',
  )
}

/** True if a server can listen on 127.0.0.1:port now. */
export async function isPortFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)))
  })
}
