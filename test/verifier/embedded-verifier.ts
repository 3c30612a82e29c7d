// What client software takes of the verifier, as the entry of one bundle.
export { parseMachineRequest, formatMachineRequest } from '../../verifier/machine-request.ts';
export { parsePublicKeys } from '../../verifier/public-key-format.ts';
export { verifyLicenseFile } from '../../verifier/verify-license-file.ts';
