/**
 * Every form of a call in every major of the providers' libraries, with and without a reporter. What the library sends and returns must
 * be the same, byte for byte. What a form does is not judged here: a form that a major refuses must be refused with a reporter, too.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Report } from '../src/reporter/report.ts'
import { watch } from '../src/reporter/watch.ts'
import { answerAsChargebee, chargebeeForms } from './forms/chargebee-forms.ts'
import type { AnyClient, Form } from './forms/form.ts'
import { answerAsPaddle, paddleForms } from './forms/paddle-forms.ts'
import { answerAsStripe, stripeForms } from './forms/stripe-forms.ts'
import { installMajors } from './library-majors.ts'
import { createRecordingBackstop } from './recording-backstop.ts'
import { type ArrivedRequest, type RecordingProvider, startRecordingProvider } from './recording-provider.ts'

interface Library {
  readonly majors: readonly string[]
  readonly forms: readonly Form[]
  readonly answer: Parameters<typeof startRecordingProvider>[0]
  readonly error: Parameters<typeof startRecordingProvider>[1]
  open(library: AnyClient, port: number): AnyClient
  /** Headers that differ between two calls without a reporter, and why. */
  readonly volatile: readonly string[]
  /** The header of an idempotency key. The reporter adds one where the caller gives none. */
  readonly keyHeader?: string
  /** The header with the id of the request is that of every answer; one library reads it. */
  readonly answeredAs?: { readonly provider_request_id: string }
}

const STRIPE = [12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23].map(major => `stripe-${major}`)

const libraries: Readonly<Record<string, Library>> = {
  stripe: {
    majors: STRIPE,
    forms: stripeForms,
    answer: answerAsStripe,
    error: status => ({ error: { type: 'api_error', message: `Error ${status}` } }),
    open(Stripe, port) {
      const stripe = new Stripe('sk', { host: '127.0.0.1', port, protocol: 'http' })
      // The library waits for half a second before it repeats a request.
      return Object.assign(stripe, { getInitialNetworkRetryDelay: () => 0.001 })
    },
    // The duration of the call before.
    volatile: ['x-stripe-client-telemetry'],
    keyHeader: 'idempotency-key',
    answeredAs: { provider_request_id: 'req_1' },
  },
  'stripe without retries': {
    majors: ['stripe-12', 'stripe-17', 'stripe-23'],
    forms: stripeForms.filter(({ failing }) => failing === undefined),
    answer: answerAsStripe,
    error: () => ({}),
    open: (Stripe, port) =>
      new Stripe('sk', {
        host: '127.0.0.1',
        port,
        protocol: 'http',
        maxNetworkRetries: 0,
        stripeAccount: 'acct_of_client',
        httpClient: Stripe.createFetchHttpClient(),
      }),
    volatile: ['x-stripe-client-telemetry'],
    keyHeader: 'idempotency-key',
    answeredAs: { provider_request_id: 'req_1' },
  },
  paddle: {
    majors: ['paddle-1', 'paddle-2', 'paddle-3'],
    forms: paddleForms,
    answer: answerAsPaddle,
    error: () => ({}),
    open: ({ Paddle }, port) => new Paddle('pdl', { environment: `http://127.0.0.1:${port}`, logLevel: 'none' }),
    // A random number of each request.
    volatile: ['x-transaction-id'],
  },
  chargebee: {
    majors: ['chargebee-3.1', 'chargebee-3'],
    forms: chargebeeForms,
    answer: answerAsChargebee,
    error: () => ({}),
    open: (Chargebee, port) =>
      new (Chargebee.default ?? Chargebee)({
        apiKey: 'key',
        site: '127.0.0.1',
        hostSuffix: '',
        protocol: 'http',
        port,
      }),
    // The duration of the call before.
    volatile: ['x-cb-client-telemetry'],
    keyHeader: 'chargebee-idempotency-key',
  },
}

let load: (name: string) => AnyClient
beforeAll(async () => {
  load = await installMajors()
})

/** What a call returns, throws, or gives to its callback, as texts. */
async function outcomeOf(form: Form, client: AnyClient): Promise<unknown> {
  const called: unknown[][] = []
  const callback = (...args: unknown[]) => called.push(args)
  const events: unknown[] = []
  client.on?.('response', ({ method, path, status, api_version }: AnyClient) =>
    events.push({ method, path, status, api_version }),
  )
  let ended: unknown
  try {
    const returned = form.call(client, callback)
    ended = { isPromise: returned instanceof Promise, value: await returned }
  } catch (error) {
    ended = { error: describeError(error) }
  }
  // Libraries call a callback by a timer of 0 ms.
  await new Promise(resolve => setTimeout(resolve, 0))
  return JSON.parse(JSON.stringify({ ended, called: called.map(args => args.map(describeError)), events }))
}

function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  return { ...error, class: error.constructor.name, message: error.message }
}

/** Keys that a library or the reporter generates, because the caller gives none. */
const GENERATED_KEY = /^(?:stripe-node-retry-|backstop-)/

function comparable(requests: readonly ArrivedRequest[], { volatile, keyHeader }: Library) {
  const isComparable = ([name, value]: readonly [string, string]) =>
    !volatile.includes(name.toLowerCase()) && !(name.toLowerCase() === keyHeader && GENERATED_KEY.test(value))
  return requests.map(request => ({ ...request, headers: request.headers.filter(isComparable) }))
}

describe.each(Object.entries(libraries))('%s', (_, library) => {
  let provider: RecordingProvider
  beforeAll(async () => {
    provider = await startRecordingProvider(library.answer, library.error)
  })
  afterAll(() => provider.stop())

  async function play(major: string, form: Form, withReporter: boolean) {
    const client = library.open(load(major), provider.port)
    const backstop = createRecordingBackstop()
    const options = { baseUrl: 'http://backstop.test', key: 'bsk_test', connectionId: 'con_1', fetch: backstop.fetch }
    const reporter = withReporter ? watch(client, { ...options, onProblem() {} }) : undefined
    provider.failNext(...(form.failing ?? []))
    const outcome = await outcomeOf(form, client)
    await reporter?.close({ timeoutMs: 5_000 })
    return { outcome, requests: provider.take(), reports: backstop.reports }
  }

  describe.each(library.majors)('%s', major => {
    test.each(library.forms.map(form => [form.name, form] as const))(
      'sends and returns the same with a reporter: %s',
      async (_name, form) => {
        const without = await play(major, form, false)
        const watched = await play(major, form, true)
        expect(watched.outcome).toEqual(without.outcome)
        expect(comparable(watched.requests, library)).toEqual(comparable(without.requests, library))
        if (without.requests.length === 0 || form.reported === null) {
          expect(watched.reports).toEqual([])
          return
        }
        const [last] = watched.reports.slice(-1)
        const { connection_id, idempotency_key, executing_at, ended_at, ...rest } = last as Report['body']
        expect(rest).toEqual({ ...form.reported, ...library.answeredAs })
        if (rest.state !== 'failed' || rest.provider_ref !== undefined)
          expect(without.outcome).not.toHaveProperty('settled.error')
        expect(new Set(watched.reports.map(report => report.idempotency_key))).toEqual(new Set([idempotency_key]))
        const { method, headers } = watched.requests[0] as ArrivedRequest
        const sent = headers.find(([name]) => name.toLowerCase() === library.keyHeader)?.[1]
        if (library.keyHeader !== undefined && method === 'POST') expect(sent).toBe(idempotency_key)
      },
    )
  })
})
