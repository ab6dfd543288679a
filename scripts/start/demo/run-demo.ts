import { createManagementApi } from '../management-api.ts'
import { playRefunds } from './demo-refunds.ts'
import { type DemoWorld, type DemoWorldOptions, makeDemoWorld } from './demo-setup.ts'
import type { Stage } from './fact-printer.ts'
import { watchDemo } from './watch.ts'

export interface DemoOptions extends Omit<DemoWorldOptions, 'api'> {
  adminUrl: string
  /** API key. */
  key: string
  stage: Stage
}

export interface Demo {
  world: DemoWorld
  /** Resolves when the alert about the unexplained refund has arrived. */
  firstAlert: Promise<{ refundedAtMs: number; alertedAtMs: number }>
  stop(): Promise<void>
}

/** Plays the demo, and reports what happens in its project until stop(). */
export async function runDemo(options: DemoOptions): Promise<Demo> {
  const { stage } = options
  const api = createManagementApi(options.adminUrl, options.key)
  const world = await makeDemoWorld({ ...options, api })
  const { record } = world
  stage.print('\nDemo: a shop, its card processor account, and two refunds\n')
  stage.tell(
    world.reused ? 'used again' : 'made',
    `project ${record.project_id}, connection ${record.connection_id}, channel ${record.channel_id}`,
  )
  const watch = await watchDemo(world, api, stage)
  const refundId = await playRefunds(world, api, stage)
  const refundedAtMs = Date.now()
  return {
    world,
    firstAlert: watch.alertAbout(refundId).then(alertedAtMs => ({ refundedAtMs, alertedAtMs })),
    async stop() {
      watch.stop()
      await world.stop()
    },
  }
}
