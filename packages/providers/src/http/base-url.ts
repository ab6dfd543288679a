/**
 * The URL that an API's paths are appended to.
 * @param given the provider's public address, or api_base as a person wrote it: with or without a slash at its end, with or
 *   without the API's version
 * @param version the path that all of the API's paths begin with, e.g. `/v1`; none when left out
 */
export function baseUrl(given: string, version = ''): string {
  const bare = given.replace(/\/+$/, '')
  return bare.endsWith(version) ? bare : `${bare}${version}`
}
