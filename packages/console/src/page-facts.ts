/** What admin-api writes into the page. */
function readFact(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? ''
}

/** The nonce with which the Content-Security-Policy of this page allows style elements. */
export const styleNonce = readFact('style-nonce')

/** Whether people can sign in with an OpenID Connect provider. */
export const hasOrganisationSignIn = readFact('organisation-sign-in') === 'true'

// Mantine's dialogs lock the scrolling of the page by a style element of get-nonce, which reads the nonce from this global.
Object.assign(globalThis, { __webpack_nonce__: styleNonce })
