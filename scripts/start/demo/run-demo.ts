import { createManagementApi } from '../management-api.ts'
import { makeDemoRefunds } from './demo-refunds.ts'
import { type DemoSetup, type DemoSetupOptions, setUpDemo } from './demo-setup.ts'
import type { FactPrinter } from './fact-printer.ts'
import { watchDemo } from './watch.ts'

export interface DemoOptions extends Omit<DemoSetupOptions, 'api'> {
  adminUrl: string
  /** The API key of the management API. */
  key: string
  printer: FactPrinter
}

export interface Demo {
  setup: DemoSetup
  /** Resolves when the alert about the unexplained refund has arrived. */
  firstAlert: Promise<{ refundedAtMs: number; alertedAtMs: number }>
  stop(): Promise<void>
}

/** Runs the demo, and prints the events, verdicts and alerts of its project until stop(). */
export async function runDemo(options: DemoOptions): Promise<Demo> {
  const { printer } = options
  const api = createManagementApi(options.adminUrl, options.key)
  const setup = await setUpDemo({ ...options, api })
  const { record } = setup
  printer.print('\nDemo: a shop, its card processor account, and two refunds\n')
  printer.fact(
    setup.isReused ? 'used again' : 'made',
    `project ${record.project_id}, connection ${record.connection_id}, channel ${record.channel_id}`,
  )
  const watch = await watchDemo(setup, api, printer)
  const refundId = await makeDemoRefunds(setup, api, printer)
  const refundedAtMs = Date.now()
  return {
    setup,
    firstAlert: watch.alertAbout(refundId).then(alertedAtMs => ({ refundedAtMs, alertedAtMs })),
    async stop() {
      watch.stop()
      await setup.stop()
    },
  }
}
