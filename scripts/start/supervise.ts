import { setTimeout as sleep } from 'node:timers/promises'
import type { Product } from './product.ts'
import { decideRestart, describeExit, type Exit } from './restart-policy.ts'

/** Starts a service that died by itself again, a bounded number of times, and says what its last words were. */
export function superviseServices(product: Product, say: (text: string) => void, isStopping: () => boolean): void {
  for (const process of product.processes()) {
    const exits: Exit[] = []
    process.onUnaskedEnd(async end => {
      if (isStopping()) return
      exits.push({ atMs: Date.now(), ...end })
      const decision = decideRestart(exits, Date.now())
      const lastWords = process.lastLines(8).map(line => `    ${line}`)
      say(`\n✗ ${process.name} ${describeExit(end)}. Its last lines (${process.logPath}):\n${lastWords.join('\n')}`)
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
