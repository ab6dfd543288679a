/** Where a release is published. Nothing is published before the owner of the repository has pushed the first tag; until then OWNER is a placeholder. */

/** The owner of the repository, which the CI sets. */
const OWNER = process.env.GITHUB_REPOSITORY_OWNER?.toLowerCase() ?? 'OWNER'

/** The images are `<IMAGES>/backstop-<program>`. */
export const IMAGES = `ghcr.io/${OWNER}`
export const REPOSITORY = `https://github.com/${process.env.GITHUB_REPOSITORY ?? `${OWNER}/backstop`}`

/** A text of a folder of the repository, with links that work outside of it. @param tag of the release */
export const withOutsideLinks = (text: string, folder: string, tag: string) =>
  text.replaceAll(/\]\((?!https?:|#)/g, `](${REPOSITORY}/blob/${tag}/${folder}`)

/** The targets of the Dockerfile that are published. */
export const PROGRAMS = ['ingress', 'reconciler', 'notifier', 'admin-api', 'provision']
/**
 * The registry in deploy/k8s/base. It is no valid name, so that a pod without an image of its own is `InvalidImageName` at once,
 * instead of asking a registry that does not exist. A host may have capitals, and the kubelet would try to pull; the underscores make it invalid.
 */
export const PLACEHOLDER = 'SET_IMAGES_IN_YOUR_OVERLAY'
