import { ApiRefusal } from '../api/api-refusal.ts'

/** The body of a refusal. The last three fields have older names and are still sent by the API. */
interface BillerError {
  message: string
  type?: 'payment' | 'invalid_request' | 'operation_failed' | 'untyped'
  api_error_code: string
  param?: string
  error_code: string
  error_msg: string
  http_status_code: number
}

/** A refusal of the subscription biller, in the form of its API. */
export class BillerRefusal extends ApiRefusal<BillerError> {
  constructor(
    status: number,
    code: string,
    message: string,
    more: { type?: NonNullable<BillerError['type']>; param?: string; headers?: Record<string, string> } = {},
  ) {
    super(
      status,
      message,
      {
        message,
        ...(more.type === undefined ? {} : { type: more.type }),
        api_error_code: code,
        ...(more.param === undefined ? {} : { param: more.param }),
        error_code: code,
        error_msg: message,
        http_status_code: status,
      },
      more.headers,
    )
  }
}

/** 404 `resource_not_found`. */
export function notFound(id: string): BillerRefusal {
  return new BillerRefusal(404, 'resource_not_found', `${id} not found`, { type: 'invalid_request' })
}

/** 400 `param_wrong_value`. */
export function wrongValue(param: string, problem: string): BillerRefusal {
  return new BillerRefusal(400, 'param_wrong_value', `${param} : ${problem}`, { type: 'invalid_request', param })
}

/** 409 `invalid_state_for_request`. */
export function wrongState(message: string): BillerRefusal {
  return new BillerRefusal(409, 'invalid_state_for_request', message, { type: 'invalid_request' })
}
