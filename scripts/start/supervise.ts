import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { identify, isAlive, type PartHandle, type PartName, type RunningStack } from '@backstop/stack'
import type { Product } from './product.ts'
import { decideRestart, describeExit, type Exit } from './restart-policy.ts'

export interface Supervision {
  say(text: string): void
  isStopping(): boolean
  /** Milliseconds between two looks at a part of the stack; 2,000 when left out. */
  lookEveryMs?: number
}

/** Starts a service that died by itself again, a bounded number of times, and says what its last words were. */
export function superviseServices(product: Product, { say, isStopping }: Supervision): void {
  for (const process of product.processes()) {
    const exits: Exit[] = []
    process.onUnaskedEnd(async end => {
      if (isStopping()) return
      exits.push({ atMs: Date.now(), ...end })
      const decision = decideRestart(exits, Date.now())
      say(`\n✗ ${process.name} ${describeExit(end)}\n${process.lastWords(8).join('\n')}`)
      if (decision.kind === 'give_up') {
        say(`✗ ${process.name} stays down (${decision.reason}). Mend the cause and start again`)
        return
      }
      await sleep(decision.delayMs)
      if (isStopping()) return
      process.start()
      await process.untilReady().then(
        () => say(`✓ ${process.name} runs again`),
        (error: unknown) => say(`✗ ${process.name}: ${error instanceof Error ? error.message.split('\n')[0] : error}`),
      )
    })
  }
}

const PART_TITLES: Record<PartName, string> = {
  kafka: 'Kafka',
  mongo: 'MongoDB',
  registry: 'The schema registry',
  mail: 'The mail catcher',
}
const LOOK_EVERY_MS = 2_000

/**
 * The same for the embedded parts of the stack. They are no children of this process, so nobody tells it when one dies:
 * it looks. Given parts and containers have no pid here and are left to whoever runs them.
 * @param logDir where the parts' logs are
 * @returns what waits until no part is being started any more: one that comes up after the stop would stay behind
 */
export function superviseStack(stack: RunningStack, logDir: string, supervision: Supervision): () => Promise<void> {
  let restarts = Promise.resolve()
  for (const [name, part] of Object.entries(stack.parts) as [PartName, PartHandle][]) {
    if (part.pid === undefined) continue
    const revive = reviver(name, part, join(logDir, `${name}.previous.log`), supervision)
    let identity = identify(part.pid)
    const lookLater = () => setTimeout(() => void look(), supervision.lookEveryMs ?? LOOK_EVERY_MS).unref()
    const look = async () => {
      if (supervision.isStopping()) return
      if (identity === undefined || !isAlive(identity)) {
        const revived = revive()
        restarts = Promise.all([restarts, revived]).then(() => {})
        if (!(await revived)) return
        identity = part.pid === undefined ? undefined : identify(part.pid)
      }
      lookLater()
    }
    lookLater()
  }
  return () => restarts
}

/** Starts a part again, each time it is called; the answer is false once that has no sense any more. */
function reviver(name: PartName, part: PartHandle, logPath: string, { say, isStopping }: Supervision) {
  const title = PART_TITLES[name]
  const ends: Exit[] = []
  return async (): Promise<boolean> => {
    ends.push({ atMs: Date.now(), code: null, signal: null })
    // The log of the run that ended: each start puts it aside under this name.
    say(`\n✗ ${title} has ended\n    Its log: ${logPath}`)
    const decision = decideRestart(ends, Date.now())
    if (decision.kind === 'give_up') {
      say(`✗ ${title} stays down (${decision.reason}). Mend the cause and start again`)
      return false
    }
    try {
      await part.restart()
      say(`✓ ${title} runs again`)
    } catch (error) {
      if (!isStopping()) say(`✗ ${error instanceof Error ? error.message : String(error)}`)
    }
    return true
  }
}
