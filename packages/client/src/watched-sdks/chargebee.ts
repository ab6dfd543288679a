import {
  amountAt,
  type CallOutcome,
  failureOfAnswer,
  failureOfError,
  formFields,
  headerAt,
  onNextResult,
  type Recorder,
  type ReportedRequest,
  type Route,
  type Sdk,
  type SentRequest,
  textAt,
  valueAt,
  withFunction,
} from './sdk.ts'

const KEY = 'chargebee-idempotency-key'

/** @param amountName the name of the amount in the form */
const refund = (name: string, path: RegExp, amountName: string): Route => ({
  name,
  verb: 'POST',
  path,
  read: (subject, params) => ({ kind: 'refund', subject, amount: amountAt(params, amountName) }),
  readOutcome: refundOutcome,
  idempotentBy: 'key',
})

const FAILED = new Set(['failure', 'timeout', 'late_failure', 'voided'])

function refundOutcome(answer: unknown): CallOutcome {
  const hasFailed = FAILED.has(textAt(answer, 'transaction.status') ?? '')
  const providerRef = textAt(answer, 'transaction.id') ?? textAt(answer, 'credit_note.id')
  return { state: hasFailed ? 'failed' : 'completed', providerRef }
}

const cancellation = (name: string, path: RegExp): Route => ({
  name,
  verb: 'POST',
  path,
  read: subject => ({ kind: 'cancellation', subject }),
  readOutcome: () => ({ state: 'completed' }),
  idempotentBy: 'key',
})

/** The library sends the slashes of an id as they are. */
const routes: readonly Route[] = [
  refund('invoice.refund', /\/invoices\/(.+)\/refund$/, 'refund_amount'),
  refund('invoice.recordRefund', /\/invoices\/(.+)\/record_refund$/, 'transaction[amount]'),
  refund('creditNote.refund', /\/credit_notes\/(.+)\/refund$/, 'refund_amount'),
  refund('creditNote.recordRefund', /\/credit_notes\/(.+)\/record_refund$/, 'transaction[amount]'),
  refund('transaction.refund', /\/transactions\/(.+)\/refund$/, 'amount'),
  refund('transaction.recordRefund', /\/transactions\/(.+)\/record_refund$/, 'amount'),
  cancellation('subscription.cancel', /\/subscriptions\/(.+)\/cancel$/),
  cancellation('subscription.cancelForItems', /\/subscriptions\/(.+)\/cancel_for_items$/),
  cancellation('subscription.delete', /\/subscriptions\/(.+)\/delete$/),
]

/** An HTTP client. Before version 3.14 it takes an object of its own, and since then the `Request` of the platform. */
interface HttpClient {
  makeApiRequest(request: Request | PlainRequest, ...more: unknown[]): Promise<Response | PlainResponse>
}

interface PlainRequest {
  readonly path: string
  readonly method: string
  readonly headers: Record<string, unknown>
  readonly data: unknown
}

interface PlainResponse {
  getStatusCode(): number
  toJson(): Promise<unknown>
}

const isPlain = (request: Request | PlainRequest): request is PlainRequest => 'path' in request

/** `chargebee`, version 3. */
export const chargebeeSdk: Sdk = {
  name: 'chargebee',
  routes,
  recognises: client => typeof valueAt(client, '_env.httpClient.makeApiRequest') === 'function',
  watchRequests(client, recorder) {
    const env = valueAt(client, '_env') as { httpClient: HttpClient }
    const { httpClient } = env
    const makeApiRequest = (...args: Parameters<HttpClient['makeApiRequest']>) => {
      const [request] = args
      const path = isPlain(request) ? request.path : new URL(request.url).pathname
      const send = () => httpClient.makeApiRequest(...args)
      return recorder.isWatched(request.method, path) ? report(recorder, path, request, send) : send()
    }
    const watching = withFunction(httpClient, 'makeApiRequest', makeApiRequest)
    env.httpClient = watching
    return () => {
      if (env.httpClient === watching) env.httpClient = httpClient
    }
  },
}

async function report(
  recorder: Recorder,
  path: string,
  request: Request | PlainRequest,
  send: () => Promise<Response | PlainResponse>,
): Promise<Response | PlainResponse> {
  const body = isPlain(request) ? request.data : await textOf(request)
  const reported = recorder.begin(request.method, path, () => readRequest(request, body))
  if (reported === undefined) return send()
  await reported.mayBeSent
  let response: Response | PlainResponse
  try {
    response = await send()
  } catch (error) {
    reported.fail(failureOfError(error))
    throw error
  }
  if ('toJson' in response) reported.tryToRead(() => reportWhenRead(response, reported))
  else reportAnswer(reported, response.status, await textOf(response))
  return response
}

/** The body of a request or an answer, which can still be read afterwards. An error is returned. */
async function textOf(message: Request | Response): Promise<string | Error> {
  try {
    return await message.clone().text()
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

function readRequest(request: Request | PlainRequest, body: unknown): SentRequest {
  if (body instanceof Error) throw body
  const params = formFields(body)
  if (!isPlain(request)) {
    const { headers } = request
    return { params, idempotencyKey: headers.get(KEY) ?? undefined, addKey: key => headers.set(KEY, key) }
  }
  const { headers } = request
  return {
    params,
    idempotencyKey: headerAt(headers, KEY),
    addKey(key) {
      headers[KEY] = key
    },
  }
}

function reportAnswer(reported: ReportedRequest, status: number, body: string | Error): void {
  const answer = body instanceof Error ? body : readJson(body)
  if (!(answer instanceof Error)) endRequest(reported, status, answer)
  else reported.fail(status < 400 ? failureOfError(answer) : failureOfAnswer(status, undefined))
}

function readJson(text: string): unknown {
  try {
    return text === '' ? {} : JSON.parse(text)
  } catch (error) {
    return error
  }
}

function reportWhenRead(response: PlainResponse, reported: ReportedRequest): void {
  const status = response.getStatusCode()
  onNextResult(response, 'toJson', reported, answer => endRequest(reported, status, answer))
}

function endRequest(reported: ReportedRequest, status: number, answer: unknown): void {
  if (status >= 200 && status < 300) reported.succeed(answer)
  else reported.fail(failureOfAnswer(status, textAt(answer, 'message')))
}
