/** The value of header `authorization` of the subscription biller's posts; the user is always `service`. */
export function subscriptionAuthorization(password: string, username = 'service'): string {
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`
}
