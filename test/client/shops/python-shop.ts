/** The shop in Python, as a process of its own. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { installPythonLibraries } from '../../../reporters/python/libraries.ts'
import type { Product } from '../../../scripts/start/product.ts'
import { WRITE_KEY } from '../../setup/accounts.ts'
import type { Accounts, ReporterCounts, Shop } from './shop.ts'

export async function openPythonShop(product: Product, { cards, reseller, biller }: Accounts): Promise<Shop> {
  const { environmentOf } = await installPythonLibraries()
  const account = ({
    connection,
    providerApi,
  }: {
    connection: { connection_id: string }
    providerApi: { url: string }
  }) => ({
    connection_id: connection.connection_id,
    url: providerApi.url,
  })
  const settings = {
    provider_key: WRITE_KEY,
    backstop_url: product.urls.admin,
    backstop_key: product.key,
    processor: account(cards),
    reseller: account(reseller),
    subscription: account(biller),
  }
  const program = spawn('python3', [`${import.meta.dirname}/python_shop.py`, JSON.stringify(settings)], {
    env: environmentOf('newest'),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const ask = createConversation(program)
  return {
    language: 'Python',
    makeCalls: bought =>
      ask<number[]>({
        do: 'calls',
        bought: {
          payments: bought.payments,
          subscriptions: bought.subscriptions,
          transactions: bought.transactions,
          item: bought.item,
          resold: bought.resold,
          invoice: bought.invoice,
          credit_note: bought.creditNote,
          billed: bought.billed,
        },
      }),
    counts: () => ask<ReporterCounts>({ do: 'counts' }),
    async stop() {
      if (program.exitCode !== null) return
      program.stdin.end()
      await once(program, 'exit')
    },
  }
}

/** Sends an order as a line, and reads its answer. @throws Error with the program's errors if it ends before */
function createConversation(program: ChildProcessByStdio<Writable, Readable, Readable>) {
  const lines = createInterface(program.stdout)[Symbol.asyncIterator]()
  let errors = ''
  program.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
  })
  return async <T>(order: object): Promise<T> => {
    program.stdin.write(`${JSON.stringify(order)}\n`)
    const { value, done } = await lines.next()
    if (done) throw new Error(`The shop in Python ended: ${errors}`)
    return JSON.parse(value)
  }
}
