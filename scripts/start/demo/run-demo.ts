import { createManagementApi } from '../management-api.ts'
import { addressLines, commandLines } from '../next-steps.ts'
import type { Product } from '../product.ts'
import { makeDemoWorld } from './demo-world.ts'
import { playRefunds } from './play.ts'
import { createStage } from './stage.ts'
import { watchDemo } from './watch.ts'

/**
 * Plays the demo and goes on telling what happens in its project.
 * @param startedAtMs when `npm start` began, to tell how long the first alert took
 * @param ready called with the stand-in card processor's API once everything is up
 */
export async function runDemo(
  product: Product,
  dataDir: string,
  startedAtMs: number,
  ready: (processor: { url: string; key: string }) => void,
): Promise<{ stop(): Promise<void> }> {
  const stage = createStage(process.stdout, Date.now)
  const api = createManagementApi(product.urls.admin, product.key)
  const world = await makeDemoWorld(dataDir, product.urls.ingress, api)
  const { record } = world
  stage.print('\nDemo: a shop, its card processor account, and two refunds\n')
  stage.tell(
    world.reused ? 'used again' : 'made',
    `project ${record.project_id}, connection ${record.connection_id}, channel ${record.channel_id}`,
  )
  const watch = await watchDemo(world, api, stage)
  const refundId = await playRefunds(world, api, stage)
  const refundedAtMs = Date.now()
  ready({ url: world.processorUrl, key: record.processor_key })
  void watch.alertAbout(refundId).then(atMs => {
    stage.print(
      `\nFirst alert ${seconds(atMs - refundedAtMs)} after the refund, ${seconds(atMs - startedAtMs)} after the start.`,
    )
    stage.print('Backstop goes on running; what happens in the demo project is shown here. Ctrl-C stops it.\n')
    stage.print(addressLines(product).join('\n'))
    stage.print(`\n${commandLines(product, world).join('\n')}\n`)
  })
  return {
    async stop() {
      watch.stop()
      await world.stop()
    },
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
