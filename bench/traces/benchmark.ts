/** Measures what traces cost: the processor time of ingress and of the reconciler for one event, with traces and without. */
import { type Receiver, startReceiver } from '@backstop/kit/test'
import type { Benchmark } from '../frame/benchmark.ts'
import { CONTENDERS, type TraceContender } from './contenders.ts'
import { compareIngress } from './ingress.ts'
import { compareReconciler } from './reconciler.ts'

export const tracesBenchmark: Benchmark = {
  name: 'traces',
  about: 'the processor time of ingress and of the reconciler for one event, without traces, at 1 % and at 100 %',
  async open(surroundings) {
    const collector: Receiver = await startReceiver((_request, response) => {
      // Kept requests would fill the memory of the benchmark.
      collector.requests.length = 0
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
    const settingsOf = ({ ratio }: TraceContender): Record<string, string> =>
      ratio === undefined ? {} : { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER_ARG: String(ratio) }
    const ingress = await compareIngress(surroundings, settingsOf)
    const reconciler = compareReconciler(surroundings, settingsOf(CONTENDERS[1]))
    return {
      comparisons: [ingress.comparison, reconciler.comparison],
      async stop() {
        await Promise.all([ingress.stop(), reconciler.stop()])
        await collector.stop()
      },
    }
  },
}
