/** The shop in Node. Its code knows nothing of Backstop; reporters watch its libraries. */
import { type Environment, Paddle } from '@paddle/paddle-node-sdk'
import Chargebee from 'chargebee'
import Stripe from 'stripe'
import { type Reporter, watch } from '../../../packages/client/src/index.ts'
import type { Product } from '../../../scripts/start/product.ts'
import { type Connected, WRITE_KEY } from '../../setup/accounts.ts'
import { callsOfShop, type ShopClients } from './calls.ts'
import type { Accounts, Shop } from './shop.ts'

export function openNodeShop(product: Product, { cards, reseller, biller }: Accounts): Shop {
  const clients: ShopClients = {
    stripe: new Stripe(WRITE_KEY, { host: '127.0.0.1', protocol: 'http', port: cards.providerApi.port }),
    paddle: new Paddle(WRITE_KEY, { environment: reseller.providerApi.url as Environment }),
    chargebee: new Chargebee({
      apiKey: WRITE_KEY,
      sdkTelemetryEnabled: false,
      site: '127.0.0.1',
      hostSuffix: '',
      protocol: 'http',
      port: biller.providerApi.port,
    }),
  }
  const report = (client: object, { connection }: Pick<Connected<'processor'>, 'connection'>): Reporter =>
    watch(client, {
      baseUrl: product.urls.admin,
      key: product.key,
      connectionId: connection.connection_id,
      onProblem: () => {},
    })
  const reporters = [report(clients.stripe, cards), report(clients.paddle, reseller), report(clients.chargebee, biller)]
  const sum = (count: 'queued' | 'dropped' | 'refused') =>
    reporters.reduce((all, reporter) => all + reporter.status()[count], 0)
  return {
    language: 'Node',
    async makeCalls(bought) {
      const durations: number[] = []
      for (const call of callsOfShop(clients, bought)) {
        const startedAtMs = performance.now()
        await call()
        durations.push(performance.now() - startedAtMs)
      }
      return durations
    },
    counts: async () => ({ queued: sum('queued'), dropped: sum('dropped'), refused: sum('refused') }),
    async stop() {
      await Promise.all(reporters.map(reporter => reporter.close({ timeoutMs: 1_000 })))
    },
  }
}
