/** The requests of `stripe` are watched at its HTTP client, so every form of a call is read as it is sent. */
import {
  failureOfAnswer,
  failureOfError,
  formFields,
  headerAt,
  isRefused,
  onNextResult,
  type ReportedRequest,
  type Sdk,
  type SentRequest,
  textAt,
  valueAt,
  withFunction,
} from './sdk.ts'
import { stripeRoutes } from './stripe-routes.ts'

/** The part of an HTTP client that the library has had since version 8, and that its users may implement. */
interface HttpClient {
  makeRequest(...args: MakeRequestArgs): Promise<HttpResponse>
}

type Headers = Record<string, unknown>
type MakeRequestArgs = [
  host: string,
  port: string,
  path: string,
  method: string,
  headers: Headers,
  body: unknown,
  ...more: unknown[],
]

interface HttpResponse {
  getStatusCode(): number
  toJSON(): Promise<unknown>
  /** Not every HTTP client of a caller has it. */
  getHeaders?(): object
}

const KEY = 'Idempotency-Key'

/** `stripe`, version 12 or newer. */
export const stripeSdk: Sdk = {
  name: 'stripe',
  routes: stripeRoutes,
  recognises: client => typeof valueAt(client, '_api.httpClient.makeRequest') === 'function',
  watchRequests(client, recorder) {
    const api = valueAt(client, '_api') as { httpClient: HttpClient }
    const { httpClient } = api
    const makeRequest = (...args: MakeRequestArgs) => {
      const [, , path, method, headers, body] = args
      const reported = recorder.begin(method, path, () => readRequest(path, headers, body))
      return reported === undefined ? httpClient.makeRequest(...args) : send(httpClient, args, reported)
    }
    const watching = withFunction(httpClient, 'makeRequest', makeRequest)
    api.httpClient = watching
    return () => {
      if (api.httpClient === watching) api.httpClient = httpClient
    }
  },
}

function readRequest(path: string, headers: Headers, body: unknown): SentRequest {
  return {
    params: formFields(path.split('?')[1], body),
    account: headerAt(headers, 'Stripe-Account') ?? headerAt(headers, 'Stripe-Context'),
    idempotencyKey: headerAt(headers, KEY),
    addKey(key) {
      headers[KEY] = key
    },
  }
}

async function send(httpClient: HttpClient, args: MakeRequestArgs, reported: ReportedRequest): Promise<HttpResponse> {
  await reported.mayBeSent
  let response: HttpResponse
  try {
    response = await httpClient.makeRequest(...args)
  } catch (error) {
    reported.fail(failureOfError(error))
    throw error
  }
  reported.tryToRead(() => reportAnswer(response, reported))
  return response
}

/** Reports the answer when the library reads it. Before it repeats a request, it reads the status only. */
function reportAnswer(response: HttpResponse, reported: ReportedRequest): void {
  const status = response.getStatusCode()
  const requestId = requestIdOf(response)
  if (status >= 400 && !isRefused(status)) reported.fail(failureOfAnswer(status, undefined), requestId)
  const onAnswer = (answer: unknown) => {
    if (valueAt(answer, 'error') === undefined) return reported.succeed(answer, requestId)
    const message = textAt(answer, 'error.message') ?? textAt(answer, 'error_description')
    reported.fail(failureOfAnswer(status, message), requestId)
  }
  onNextResult(response, 'toJSON', reported, onAnswer, requestId)
}

/** A call that repeats an idempotency key gets the answer of the first request, whose id its events have. */
function requestIdOf(response: HttpResponse): string | undefined {
  const headers = Object(response.getHeaders?.())
  return headerAt(headers, 'Original-Request') ?? headerAt(headers, 'Request-Id')
}
