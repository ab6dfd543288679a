import { ApiRefusal } from '../api/api-refusal.ts'

/** The object `error` in the body of a refusal. */
interface ResellerError {
  type: 'request_error' | 'api_error'
  code: string
  detail: string
  documentation_url: string
  errors?: { field: string; message: string }[]
}

/** A refusal of the reseller, in the form of its API. */
export class ResellerRefusal extends ApiRefusal<{ error: ResellerError }> {
  /**
   * @param kind the code with its section of the provider's documentation, e.g. `shared/not_found`
   * @param fields the error of each wrong parameter, by its name
   */
  constructor(
    status: number,
    kind: `${string}/${string}`,
    detail: string,
    more: { fields?: Record<string, string>; headers?: Record<string, string> } = {},
  ) {
    const [, code = kind] = kind.split('/')
    const errors = Object.entries(more.fields ?? {}).map(([field, message]) => ({ field, message }))
    super(
      status,
      detail,
      {
        error: {
          type: status === 429 || status >= 500 ? 'api_error' : 'request_error',
          code,
          detail,
          documentation_url: `https://developer.paddle.com/errors/${kind}`,
          ...(errors.length === 0 ? {} : { errors }),
        },
      },
      more.headers,
    )
  }
}

/** 404 `not_found`. */
export function notFound(id: string): ResellerRefusal {
  return new ResellerRefusal(404, 'shared/not_found', `Entity ${id} not found`)
}

/** 400 `invalid_field`. */
export function invalidField(field: string, message: string): ResellerRefusal {
  return new ResellerRefusal(400, 'shared/invalid_field', 'Request does not pass validation.', {
    fields: { [field]: message },
  })
}
